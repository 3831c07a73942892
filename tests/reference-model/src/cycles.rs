//! Rule 11 by enumeration: every simple cycle of edges that no budget bounds.

use interlocking_core::table::{Goto, NodeKind, NodeRow, Table, Visits};
use std::collections::BTreeSet;

/// The edges that no budget bounds, by name.
pub fn kept_edges(table: &Table) -> BTreeSet<(String, String)> {
    let mut edges = BTreeSet::new();
    for row in &table.nodes {
        let mut keep = |goto: &Goto| {
            edges.insert((row.name.clone(), goto.to.node.clone()));
        };
        // An edge with a budget is exhausted in the end; then its route is taken.
        let unbudgeted = || row.goto.iter().filter(|goto| goto.times.is_none());
        let routes = || row.goto.iter().filter_map(|goto| goto.exhausted.as_deref());
        match row.visits {
            None => {
                let bounded = |goto: &&Goto| goto.to.node == row.name && row.attempts.is_some();
                let failures = row.timed_out.iter().chain(&row.failed);
                unbudgeted().chain(routes()).chain(failures).filter(|goto| !bounded(goto)).for_each(&mut keep);
                row.exhausted.iter().for_each(keep);
                let branches = row.fork.iter().flat_map(|fork| fork.branches.iter().flatten());
                let branches = branches.filter(|target| target.node != row.name || row.attempts.is_none());
                edges.extend(branches.map(|target| (row.name.clone(), target.node.clone())));
            }
            Some(Visits::AtMost(_)) => row.exhausted.iter().for_each(keep),
            Some(Visits::Unbounded) => {}
        }
        if row.kind == NodeKind::Event && row.visits != Some(Visits::Unbounded) {
            edges.extend(taken_from(table, row).into_iter().map(|from| (from, row.name.clone())));
        }
    }
    edges.retain(|(_, to)| to != "exit");
    edges
}

/// The nodes from which an event may move the run: those that its redirects clear, except redirects with a budget.
/// The nodes' own budgets do not count: the token is taken before its entry is counted.
fn taken_from(table: &Table, event: &NodeRow) -> BTreeSet<String> {
    let edges = event.goto.iter().filter(|goto| goto.times.is_none());
    let redirects = edges.chain(event.routes()).filter(|goto| !goto.to.is_exit());
    let names: Vec<&str> =
        redirects.flat_map(|goto| &goto.cancels).map(|name| name.split('.').next().unwrap()).collect();
    let taken = table.nodes.iter().filter(|row| {
        let takes_tokens = !matches!(row.kind, NodeKind::Event | NodeKind::Advisory | NodeKind::Observer);
        takes_tokens && names.iter().any(|&name| name == "*" || name == row.name)
    });
    taken.map(|row| row.name.clone()).collect()
}

/// All simple cycles of these edges, each beginning with its first node in the table.
pub fn unbounded(table: &Table) -> BTreeSet<Vec<String>> {
    up_to(table, 1000)
}

/// Whether there is such a cycle.
pub fn is_unbounded(table: &Table) -> bool {
    !up_to(table, 1).is_empty()
}

/// At least `enough` of the cycles, if there are so many: a search that has begun is completed.
fn up_to(table: &Table, enough: usize) -> BTreeSet<Vec<String>> {
    let edges = kept_edges(table);
    let mut cycles = BTreeSet::new();
    let order: Vec<&String> = table.nodes.iter().map(|row| &row.name).collect();
    for (first, name) in order.iter().enumerate() {
        extend(&edges, &order[first..], &mut vec![(*name).clone()], &mut cycles, enough);
    }
    cycles
}

fn extend(
    edges: &BTreeSet<(String, String)>,
    allowed: &[&String],
    path: &mut Vec<String>,
    cycles: &mut BTreeSet<Vec<String>>,
    enough: usize,
) {
    let last = path.last().unwrap().clone();
    for (_, to) in edges.range((last.clone(), String::new())..).take_while(|(from, _)| *from == last) {
        if *to == path[0] {
            cycles.insert(path.clone());
        } else if !path.contains(to) && allowed.contains(&to) && cycles.len() < enough {
            path.push(to.clone());
            extend(edges, allowed, path, cycles, enough);
            path.pop();
        }
    }
}
