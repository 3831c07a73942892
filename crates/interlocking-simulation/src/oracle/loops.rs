//! The loop that the failure of a spent edge names, checked by the rows of the table alone.

use interlocking_core::table::{Goto, NodeKind, NodeRow, Table};
use std::collections::BTreeSet;

/// Checks the loop that edge `goto` of `row` closes: it begins with that edge, goes on along ways of the table and ends
/// at `row`, and none is shorter. Without a way back it is empty. No way leads to an event node: the loop of its edge
/// comes back where the edge takes tokens.
pub(super) fn check(table: &Table, row: &NodeRow, goto: &Goto, cycle: &[String]) -> Result<(), String> {
    let is_event = row.kind == NodeKind::Event;
    let ends = if is_event { cleared(table, goto) } else { BTreeSet::from([row.name.as_str()]) };
    let is_loop = match (shortest(table, &goto.to.node, &ends), cycle) {
        (None, cycle) => cycle.is_empty(),
        (Some(steps), [first, way @ ..]) => {
            let way = if is_event { way.split_last().map_or(way, |(_, way)| way) } else { way };
            let goes_on = |pair: &[String]| targets(table, &pair[0]).contains(pair[1].as_str());
            *first == row.name
                && cycle.last() == Some(first)
                && way.len() == steps
                && way.first() == Some(&goto.to.node)
                && way.last().is_some_and(|last| ends.contains(last.as_str()))
                && way.windows(2).all(goes_on)
        }
        (Some(_), []) => false,
    };
    if is_loop {
        Ok(())
    } else {
        Err(format!("{cycle:?} is not the loop of the edge from {} to {:?}", row.name, goto.to))
    }
}

/// How many nodes the shortest way from one node to any of these has, both ends included.
fn shortest(table: &Table, from: &str, ends: &BTreeSet<&str>) -> Option<usize> {
    let (mut reached, mut steps) = (BTreeSet::from([from]), 1);
    while reached.is_disjoint(ends) {
        let next: BTreeSet<&str> =
            reached.iter().flat_map(|name| targets(table, name)).chain(reached.clone()).collect();
        if next == reached {
            return None;
        }
        (reached, steps) = (next, steps + 1);
    }
    Some(steps)
}

/// The nodes to which a node's ways lead.
fn targets<'t>(table: &'t Table, name: &str) -> BTreeSet<&'t str> {
    let Some(row) = table.node(name) else { return BTreeSet::new() };
    let branches = row.fork.iter().flat_map(|fork| fork.branches.iter().flatten());
    let gotos = row.goto.iter().chain(row.routes()).map(|goto| &goto.to);
    gotos.chain(branches).map(|target| target.node.as_str()).collect()
}

/// The nodes from which an edge takes tokens.
fn cleared<'t>(table: &'t Table, goto: &Goto) -> BTreeSet<&'t str> {
    let takes_tokens = |row: &&NodeRow| !matches!(row.kind, NodeKind::Event | NodeKind::Advisory | NodeKind::Observer);
    let is_cleared = |row: &&NodeRow| {
        goto.cancels.iter().any(|name| name == "*" || name.split('.').next() == Some(row.name.as_str()))
    };
    table.nodes.iter().filter(takes_tokens).filter(is_cleared).map(|row| row.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shortest_loop_of_the_edge_is_one() {
        let node = |name: &str| NodeRow::new(name, NodeKind::Logic);
        let mut table = Table::new("Loops", "T");
        table.nodes = vec![
            node("a").entry().goto("b", &[]).goto("exit", &[]),
            node("b").goto("c", &[]).goto("d", &[]),
            node("c").goto("d", &[]),
            node("d").goto("a", &[]),
            NodeRow::new("event", NodeKind::Event).goto("b", &["d"]),
        ];
        let is_loop = |from: &str, at: usize, cycle: &[&str]| {
            let row = table.node(from).unwrap();
            let cycle: Vec<String> = cycle.iter().map(|&name| name.to_owned()).collect();
            check(&table, row, &row.goto[at], &cycle).is_ok()
        };
        assert!(is_loop("a", 0, &["a", "b", "d", "a"]) && is_loop("a", 1, &[]));
        assert!(is_loop("event", 0, &["event", "b", "d", "event"]));
        for wrong in [&["a", "b", "c", "d", "a"][..], &["a", "d", "a"], &["b", "d", "a", "b"], &["a", "b", "d"], &[]] {
            assert!(!is_loop("a", 0, wrong), "{wrong:?}");
        }
        assert!(!is_loop("event", 0, &["event", "b", "event"]) && !is_loop("a", 1, &["a", "exit", "a"]));
    }
}
