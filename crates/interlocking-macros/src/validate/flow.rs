//! Flow: where a run starts, what it reaches, and whether it can end from there.

use super::questions::{listed, may_have_unparsed_edges, places};
use crate::ast::{EXIT, GraphModel, Node, Place};
use crate::errors::Errors;
use interlocking_core::table::NodeKind;

/// A run starts with one token at one node.
pub(super) fn there_is_one_entry(graph: &GraphModel<'_>, errors: &Errors) {
    let marked = || graph.nodes.iter().filter(|node| node.attributes.entry.is_some());
    let mut entries = marked().filter(|node| !node.is_beside());
    let Some(first) = entries.next() else {
        if marked().next().is_some() {
            return; // One that takes no token is marked: another rule.
        }
        if graph.nodes.is_empty() {
            errors.over(&graph.input.ident, "a graph has a node at least: `#[node(entry, input = Type, goto(exit))]`");
        } else if !graph.nodes.iter().any(|node| node.unparsed.may_include("entry")) {
            errors
                .over(&graph.input.ident, "no node is the entry: mark the one where a run starts, `#[node(entry, …)]`");
        }
        return;
    };
    for node in entries {
        let message = format!("a run starts at one node, and `{}` is the entry already", first.name);
        errors.over(&node.attributes.entry, message);
    }
}

/// A run starts with one value, so the entry is neither a join, which takes several, nor a node beside the graph, which
/// takes none.
pub(super) fn the_entry_takes_one_value(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        let (Some(kind), Some(entry)) = (node.kind, &node.attributes.entry) else { continue };
        if kind == NodeKind::Join {
            errors.over(entry, "a run starts with one value, and a join takes several: start at another node");
        } else if node.is_beside() {
            let message = format!("a run starts with a token, and an `{kind}` takes none: start at another node");
            errors.over(entry, message);
        }
    }
}

/// Each node must be reachable from the entry or from an event: otherwise it would be declared and never run. Nodes
/// beside the graph are excepted, as no edge leads to them.
pub(super) fn every_node_is_reached(graph: &GraphModel<'_>, reach: &Reach, errors: &Errors) {
    let is_entry = |node: &Node<'_>| node.attributes.entry.is_some() && !node.is_beside();
    let entries: Vec<usize> = (0..graph.nodes.len()).filter(|&node| is_entry(&graph.nodes[node])).collect();
    let events = (0..graph.nodes.len()).filter(|&node| graph.nodes[node].kind == Some(NodeKind::Event));
    let starts: Vec<usize> = entries.iter().copied().chain(events).collect();
    let reached = |node: usize| starts.iter().any(|&start| reach.leads(start, node));
    // Without an entry, or with a row that did not parse, the reachable nodes are not known.
    if entries.is_empty() || (0..graph.nodes.len()).any(|node| reached(node) && reach.has_unparsed[node]) {
        return;
    }
    let entry = &graph.nodes[entries[0]].name;
    // A node with a duplicate name, or named `exit`, is reported for its name: no edge can lead to it.
    let can_be_meant = |index: usize| {
        let node = &graph.nodes[index];
        graph.is_first_of_its_name(index) && node.name != EXIT && !node.is_beside()
    };
    let unreached = |index: &usize| can_be_meant(*index) && !reached(*index);
    for node in (0..graph.nodes.len()).filter(unreached).map(|index| &graph.nodes[index]) {
        let message = format!("no run reaches `{}`: no edge leads there from the entry `{entry}`", node.name);
        errors.over(node.ident, message);
    }
}

/// A run ends only at the exit. A node without a path to the exit, or a loop without a way out, is a dead end. Nodes
/// beside the graph need not lead anywhere.
///
/// The error is reported where a route is missing: at the node that leads nowhere, or at one node of the loop, and not
/// at the nodes before it.
pub(super) fn every_node_leads_to_exit(graph: &GraphModel<'_>, reach: &Reach, errors: &Errors) {
    let all = || 0..graph.nodes.len();
    let ends = |node: usize| reach.has_unparsed[node] || places(graph, node).any(|place| place == Place::Exit);
    let stuck = |node: usize| !all().any(|end| ends(end) && reach.leads(node, end));
    let mut reported = vec![false; graph.nodes.len()];
    for index in all().filter(|&index| !graph.nodes[index].is_beside() && stuck(index)) {
        let node = &graph.nodes[index];
        // A loop without a way out: every node that it leads to leads back.
        let trap: Vec<usize> = all().filter(|&other| reach.leads(index, other)).collect();
        if reported[index] || !trap.iter().all(|&other| reach.leads(other, index)) {
            continue;
        }
        trap.iter().for_each(|&other| reported[other] = true);
        if node.targets().next().is_none() {
            if node.kind != Some(NodeKind::Fork) {
                errors.over(
                    node.ident,
                    format_args!("node `{}` leads nowhere: say where it goes, `goto(exit)`", node.name),
                );
            }
        } else {
            let names: Vec<&str> = trap.iter().map(|&node| graph.nodes[node].name.as_str()).collect();
            let message = match names[..] {
                [name] => {
                    format!("`{name}` leads only to itself: a run could never end, so let it go on, as to `exit`")
                }
                _ => format!(
                    "{} lead only to each other: a run could never end, so let one go on, as to `exit`",
                    listed(names, "and")
                ),
            };
            errors.over(node.ident, message);
        }
    }
}

/// Which node leads to which, over zero or more edges.
pub(super) struct Reach {
    leads: Vec<Vec<bool>>,
    has_unparsed: Vec<bool>,
}

impl Reach {
    pub(super) fn of(graph: &GraphModel<'_>) -> Self {
        let count = graph.nodes.len();
        let next = |node: usize| {
            places(graph, node).filter_map(|place| match place {
                Place::Exit => None,
                Place::Node(to) | Place::Slot(to, _) => Some(to),
            })
        };
        let next: Vec<Vec<usize>> = (0..count).map(|node| next(node).collect()).collect();
        let from = |start: usize| {
            let (mut seen, mut open) = (vec![false; count], vec![start]);
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(&next[node]);
                }
            }
            seen
        };
        Self {
            leads: (0..count).map(from).collect(),
            has_unparsed: (0..count).map(|node| may_have_unparsed_edges(graph, node)).collect(),
        }
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        self.leads[from][to]
    }
}
