//! The nodes that must not change a workspace at the same time, computed from the rows of a table
//! alone.

use interlocking_core::table::{NodeKind, NodeRow, Table, Visits};
use std::collections::BTreeSet;

/// The pairs of nodes that take tokens and must not work at the same time.
pub fn apart(table: &Table) -> Vec<(usize, usize)> {
    let takes_tokens = |row: &NodeRow| !matches!(row.kind, NodeKind::Advisory | NodeKind::Observer | NodeKind::Event);
    let rows: Vec<(usize, &NodeRow)> = table.nodes.iter().enumerate().filter(|(_, row)| takes_tokens(row)).collect();
    let mut pairs = Vec::new();
    for &(one, row) in &rows {
        pairs.extend(
            rows.iter().filter(|(other, with)| one < *other && disturb(row, with)).map(|(other, _)| (one, *other)),
        );
    }
    pairs
}

/// All pairs, by name.
pub fn all(table: &Table) -> Vec<BTreeSet<String>> {
    let name = |node: usize| table.nodes[node].name.clone();
    let pairs = apart(table).into_iter().map(|(one, other)| BTreeSet::from([name(one), name(other)]));
    pairs.chain(beside(table)).collect()
}

/// The pairs in which one node works beside the graph, and single nodes that may work several times
/// at once.
pub fn beside(table: &Table) -> Vec<BTreeSet<String>> {
    let mut sets = BTreeSet::new();
    for row in table.nodes.iter().filter(|row| matches!(row.kind, NodeKind::Advisory | NodeKind::Observer)) {
        for other in table.nodes.iter().filter(|other| disturb(row, other)) {
            let once = row.kind == NodeKind::Observer || row.visits == Some(Visits::AtMost(1));
            if row.name != other.name || !once {
                sets.insert(BTreeSet::from([row.name.clone(), other.name.clone()]));
            }
        }
    }
    sets.into_iter().collect()
}

fn disturb(one: &NodeRow, other: &NodeRow) -> bool {
    let writes = |row: &NodeRow| row.workspace.clone().filter(|_| !row.read_only);
    match (writes(one), writes(other)) {
        (Some(place), Some(same)) if place == same => one.exclusive.is_none() || one.exclusive != other.exclusive,
        _ => false,
    }
}
