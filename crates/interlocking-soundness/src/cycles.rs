//! Cycles that no budget bounds.
//!
//! A run leaves a node with a budget in the end by its exhausted route, so only that edge of it can be taken for ever; edges
//! of nodes without a budget can. `attempts` bounds an edge of a node to itself. An event takes the run from wherever its
//! regions are. What remains of the table by these rules has no cycle, unless its author says `visits = unbounded`.

use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, Visits};
use std::collections::VecDeque;

/// For every such cycle, its nodes in order, beginning with the first in the table; of those that share a node, the shortest.
pub(crate) fn unbounded(net: &Net) -> Vec<Vec<usize>> {
    let mut edges = edges(net);
    without_dead_ends(&mut edges);
    let mut cycles: Vec<Vec<usize>> = Vec::new();
    for start in 0..edges.len() {
        if !cycles.iter().any(|cycle| cycle.contains(&start)) {
            cycles.extend(shortest(&edges, start));
        }
    }
    cycles
}

fn edges(net: &Net) -> Vec<Vec<usize>> {
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); net.nodes().len()];
    for (index, (node, row)) in net.nodes().iter().zip(&net.table().nodes).enumerate() {
        if row.visits == Some(Visits::Unbounded) {
            continue;
        }
        for at in node.alternatives.clone() {
            let is_route = node.exhausted == Some(at);
            let Some(alternative) = net.alternative(at) else { continue };
            if row.kind == NodeKind::Event {
                let from = alternative.cancels.iter().flat_map(|region| region.nodes.iter());
                from.filter(|&from| from != index).for_each(|from| edges[from].push(index));
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

/// Takes the edges away that lead to nodes without any, until there are none: what is left are cycles and ways to them.
fn without_dead_ends(edges: &mut [Vec<usize>]) {
    loop {
        let dead: Vec<bool> = edges.iter().map(Vec::is_empty).collect();
        let mut changed = false;
        for targets in edges.iter_mut() {
            let before = targets.len();
            targets.retain(|&target| !dead[target]);
            changed |= targets.len() < before;
        }
        if !changed {
            return;
        }
    }
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
