//! Cycles that no budget bounds.
//!
//! A node with a budget is finally left by its exhausted route, so only that route can be taken without bound. Edges of
//! nodes without a budget can be taken without bound, unless the edge itself has a budget: then the edge's exhausted
//! route can. `attempts` bounds an edge of a node to itself. An event takes the run from any place in its regions that
//! holds a token, which is never at an event, an advisory node or an observer. The edges that remain must form no
//! cycle, unless the author declares `visits = unbounded`.

use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, Visits};
use std::collections::VecDeque;

/// The nodes of each such cycle in order, beginning with the first in the table: the shortest through each node that is on
/// none before; at most `most` cycles.
pub(crate) fn unbounded(net: &Net, most: usize) -> Vec<Vec<usize>> {
    let mut edges = edges(net);
    without_dead_ends(&mut edges);
    let mut cycles: Vec<Vec<usize>> = Vec::new();
    let mut is_known = vec![false; edges.len()];
    for start in 0..edges.len() {
        if cycles.len() < most && !is_known[start] {
            let found = shortest(&edges, start);
            found.iter().flatten().for_each(|&node| is_known[node] = true);
            cycles.extend(found);
        }
    }
    cycles
}

fn edges(net: &Net) -> Vec<Vec<usize>> {
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); net.nodes().len()];
    let takes_tokens = |node: usize| {
        !matches!(net.table().nodes[node].kind, NodeKind::Event | NodeKind::Advisory | NodeKind::Observer)
    };
    for (index, (node, row)) in net.nodes().iter().zip(&net.table().nodes).enumerate() {
        if row.visits == Some(Visits::Unbounded) {
            continue;
        }
        for at in node.alternatives.clone() {
            let is_route = node.exhausted == Some(at);
            // An edge with a budget is not taken once the budget is spent.
            let Some(alternative) = net.alternative(at).filter(|way| way.times.is_none()) else { continue };
            let goes_on = alternative.branches.iter().flatten().any(|&place| place != net.exit());
            if row.kind == NodeKind::Event && goes_on {
                let from = alternative.cancels.iter().flat_map(|region| region.nodes.iter());
                from.filter(|&from| takes_tokens(from)).for_each(|from| edges[from].push(index));
            }
            if matches!(row.visits, Some(Visits::AtMost(_))) && !is_route {
                continue;
            }
            for &place in alternative.branches.iter().flatten().filter(|&&place| place != net.exit()) {
                let to = usize::from(net.place(place).node);
                if to != index || row.attempts.is_none() || is_route {
                    edges[index].push(to);
                }
            }
        }
    }
    edges
}

/// Removes the edges that lead to no cycle or come from none. Cycles and paths between them remain.
fn without_dead_ends(edges: &mut [Vec<usize>]) {
    let mut back = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|&to| back[to].push(from));
    }
    let (last, first) = (dead_ends(edges, &back), dead_ends(&back, edges));
    let is_dead = |node: usize| last[node] || first[node];
    for (from, targets) in edges.iter_mut().enumerate() {
        targets.retain(|&to| !is_dead(from) && !is_dead(to));
    }
}

/// The nodes from which every path along `edges` ends; `back` are the same edges reversed.
fn dead_ends(edges: &[Vec<usize>], back: &[Vec<usize>]) -> Vec<bool> {
    let mut left: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut open: Vec<usize> = (0..edges.len()).filter(|&node| left[node] == 0).collect();
    let mut is_dead = vec![false; edges.len()];
    while let Some(node) = open.pop() {
        is_dead[node] = true;
        for &from in &back[node] {
            left[from] -= 1;
            if left[from] == 0 {
                open.push(from);
            }
        }
    }
    is_dead
}

fn shortest(edges: &[Vec<usize>], start: usize) -> Option<Vec<usize>> {
    let mut from: Vec<Option<usize>> = vec![None; edges.len()];
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for &to in &edges[at] {
            if to == start {
                let mut cycle = vec![at];
                while let Some(before) = from[cycle[cycle.len() - 1]] {
                    cycle.push(before);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if from[to].is_none() {
                from[to] = Some(at);
                open.push_back(to);
            }
        }
    }
    None
}
