//! Which nodes may change one workspace at the same time.
//!
//! Two nodes that take tokens are at work at once where a marking lets both run. [`together`](crate::together)
//! over-approximates these pairs without a search. A common name in `exclusive` keeps two nodes apart, which markings
//! do not show.
//!
//! An advisory node or an observer may be at work until the run ends, whatever the tokens do, and an advisory node
//! several times at once. So no other node may change the workspace of such a node, unless the two take turns. While an
//! event node runs, only these nodes run, and nodes that wait for a person or for children. Waiting nodes hold a branch
//! while they change it, and an event node may have to work on just that branch, so such pairs are not reported.

use crate::model::{Model, Role};
use crate::together::Together;
use crate::verdict::Rule;
use interlocking_core::bits::Bits;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Visits};
use std::collections::BTreeMap;

/// Whether a node can be `exclusive`. A node that waits for a person or for many children cannot, nor can an observer.
pub(crate) fn takes_turns(row: &NodeRow) -> bool {
    !matches!(row.kind, NodeKind::Map | NodeKind::Human | NodeKind::Observer)
}

/// The pairs of nodes that change one workspace without taking turns and that may be live at once, grouped by
/// workspace.
pub(crate) fn pairs(model: &Model<'_>, together: &Together) -> Vec<Vec<[usize; 2]>> {
    let rows = &model.net.table().nodes;
    let writes = |index: &usize| {
        rows[*index].workspace.is_some()
            && !rows[*index].read_only
            && matches!(model.nodes[*index].role, Role::Plain | Role::Join)
    };
    let writers: Vec<(usize, Bits)> = (0..rows.len())
        .filter(writes)
        .filter_map(|index| Some((index, together.beside(model, &model.nodes[index])?)))
        .collect();
    let mut pairs: BTreeMap<&str, Vec<[usize; 2]>> = BTreeMap::new();
    for (nth, (one, beside)) in writers.iter().enumerate() {
        for (other, beside_other) in &writers[nth + 1..] {
            let may_meet = |node: usize, beside: &Bits| model.nodes[node].needs().all(|place| beside.contains(place));
            if disturb(&rows[*one], &rows[*other]) && may_meet(*other, beside) && may_meet(*one, beside_other) {
                pairs.entry(rows[*one].workspace.as_deref().unwrap_or_default()).or_default().push([*one, *other]);
            }
        }
    }
    pairs.into_values().collect()
}

/// The violations by nodes that work beside the graph.
pub(crate) fn beside_the_graph(net: &Net) -> Vec<Rule> {
    let rows = &net.table().nodes;
    let is_beside = |row: &NodeRow| matches!(row.kind, NodeKind::Advisory | NodeKind::Observer);
    let mut rules = Vec::new();
    for (at, one) in rows.iter().enumerate() {
        let several = one.kind == NodeKind::Advisory && one.visits != Some(Visits::AtMost(1));
        if several && disturb(one, one) {
            rules.push(shared(&[one]));
        }
        for other in rows[at + 1..].iter().filter(|other| is_beside(one) || is_beside(other)) {
            if disturb(one, other) {
                rules.push(shared(&[one, other]));
            }
        }
    }
    rules
}

/// Whether both change one workspace, without taking turns.
fn disturb(one: &NodeRow, other: &NodeRow) -> bool {
    let take_turns = one.exclusive.is_some() && one.exclusive == other.exclusive;
    one.workspace.is_some() && one.workspace == other.workspace && !one.read_only && !other.read_only && !take_turns
}

fn shared(rows: &[&NodeRow]) -> Rule {
    let workspace = rows[0].workspace.clone().unwrap_or_default();
    Rule::SharedWorkspace { workspace, nodes: rows.iter().map(|row| row.name.clone()).collect() }
}
