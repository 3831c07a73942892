//! Rules for the child graphs of `exclusive` graph nodes. Such a child run, which has its node's turn, never waits for a person,
//! a message or another turn, so that no two runs can wait for each other.

use crate::run::start_error::StartError;
use interlocking_core::net::{Net, Nets, NodeIndex};
use interlocking_core::table::{NodeKind, NodeRow};
use std::fmt;

/// A graph node that cannot be `exclusive`, or a map that cannot `adopt`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfitSection {
    /// The path from that node to the node within it that breaks the rule, each as `node` of its `Graph`.
    pub way: Vec<String>,
    /// Why the last node breaks the rule.
    pub reason: String,
}

/// Whether these graphs have an exclusive graph node.
pub(crate) fn has_sections(nets: &Nets) -> bool {
    nets.iter().flat_map(|net| &net.table().nodes).any(is_section)
}

/// Checks that every exclusive graph node may be exclusive, and that every map with `adopt` may adopt.
pub(crate) fn check(nets: &Nets) -> Result<(), StartError> {
    if !has_sections(nets) {
        return Ok(());
    }
    let mut unfit = Vec::new();
    for net in nets.iter() {
        for (index, row) in (0..).zip(&net.table().nodes) {
            let rule: fn(&NodeRow) -> Option<&'static str> = match row {
                _ if is_section(row) => unfit_within,
                NodeRow { adopt: true, .. } => |row| is_section(row).then_some(LEFT),
                _ => continue,
            };
            let (mut seen, mut way) = (Vec::new(), vec![named(net, row)]);
            find(nets, (net, index), rule, &mut seen, &mut way, &mut unfit);
        }
    }
    if unfit.is_empty() { Ok(()) } else { Err(StartError::UnfitSections { unfit }) }
}

/// Adds the nodes that break the rule in the child graph of a node, and in the graphs below that.
fn find(
    nets: &Nets,
    (net, node): (&'static Net, NodeIndex),
    rule: fn(&NodeRow) -> Option<&'static str>,
    seen: &mut Vec<&'static Net>,
    way: &mut Vec<String>,
    unfit: &mut Vec<UnfitSection>,
) {
    let Some(child) = nets.child(net, node) else { return };
    if seen.iter().any(|known| std::ptr::eq(*known, child)) {
        return;
    }
    seen.push(child);
    for (index, row) in (0..).zip(&child.table().nodes) {
        way.push(named(child, row));
        if let Some(reason) = rule(row) {
            unfit.push(UnfitSection { way: way.clone(), reason: reason.to_owned() });
        }
        find(nets, (child, index), rule, seen, way, unfit);
        way.pop();
    }
}

fn is_section(row: &NodeRow) -> bool {
    row.kind == NodeKind::Graph && row.exclusive.is_some()
}

/// Why a node may not be in the child graph of an exclusive node; `None` if it may.
fn unfit_within(row: &NodeRow) -> Option<&'static str> {
    match row.kind {
        NodeKind::Human => Some("it waits for a person, and all runs that wait for the turn would wait, too"),
        NodeKind::Event => {
            Some("it takes messages, and as long as some come all runs that wait for the turn would wait")
        }
        _ => row
            .exclusive
            .as_ref()
            .map(|_| "it waits for a turn itself, and two runs could wait for each other for ever"),
    }
}

const LEFT: &str = "a child that the map stops, to adopt it later, would be stopped in the middle of it";

fn named(net: &Net, row: &NodeRow) -> String {
    format!("`{}` of `{}`", row.name, net.table().graph)
}

impl fmt::Display for UnfitSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.way.join(" → "), self.reason)
    }
}
