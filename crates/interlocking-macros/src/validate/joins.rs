//! Joins: each waits for several slots, and each slot is filled only from the nodes that it lists.

use super::questions::{instead, may_have_unparsed_edges, places};
use crate::ast::{GraphModel, Node, Place, Slot};
use crate::errors::Errors;
use crate::suggest;
use interlocking_core::table::NodeKind;
use syn::ext::IdentExt;

fn joins<'g, 'a>(graph: &'g GraphModel<'a>) -> impl Iterator<Item = (usize, &'g Node<'a>)> {
    graph.nodes.iter().enumerate().filter(|(_, node)| node.kind == Some(NodeKind::Join))
}

/// A slot's name identifies a value, so it is unique in the join.
pub(super) fn slots_are_distinct(graph: &GraphModel<'_>, errors: &Errors) {
    for (_, join) in joins(graph) {
        for (at, slot) in join.slots().iter().enumerate() {
            if join.slots()[..at].iter().any(|other| other.name() == slot.name()) {
                errors.over(
                    &slot.name,
                    format_args!("join `{}` has two slots called `{}`: rename one", join.name, slot.name()),
                );
            }
        }
    }
}

/// A join has at least two slots: with one, any other node would do.
pub(super) fn joins_wait_for_several(graph: &GraphModel<'_>, errors: &Errors) {
    for (_, join) in joins(graph) {
        if let Some(slots) = join.attributes.slots.as_ref().filter(|slots| slots.value.len() < 2) {
            errors.over(
                &slots.key,
                "a join waits for two slots or more; for one value, a `LogicNode` with `input = Type` does",
            );
        }
    }
}

/// At least one slot is not latched: if all slots keep their values, a join that has fired once would be ready for
/// ever.
pub(super) fn a_slot_is_not_latched(graph: &GraphModel<'_>, errors: &Errors) {
    for (_, join) in joins(graph) {
        let slots = join.slots();
        if slots.len() > 1
            && slots.iter().all(|slot| slot.latched.is_some())
            && let Some(latched) = slots.last().and_then(|slot| slot.latched.as_ref())
        {
            let name = &join.name;
            errors.over(
                latched,
                format_args!("every slot of join `{name}` is latched, so none would start a new round: free one"),
            );
        }
    }
}

/// A slot's sources are nodes; a slot without `from(…)` is filled from the node that it is named after.
pub(super) fn sources_are_known(graph: &GraphModel<'_>, errors: &Errors) {
    for (_, join) in joins(graph) {
        for slot in join.slots() {
            let name = slot.name();
            if slot.sources.is_empty() {
                errors.over(
                    &slot.name,
                    format_args!("slot `{name}` is filled from nothing: name a node in its `from(…)`"),
                );
            }
            for (at, source) in slot.sources.iter().enumerate() {
                let wrong = source.unraw().to_string();
                if slot.sources[..at].iter().any(|other| other.unraw() == wrong) {
                    errors.over(source, format_args!("slot `{name}` lists `{wrong}` twice: keep one"));
                }
                if graph.find(source).is_some() {
                    continue;
                }
                let message = if slot.named_after_source {
                    let known = graph.nodes.iter().map(|node| node.name.as_str());
                    let near = suggest::nearest(&wrong, known).map(|near| format!(" (did you mean `{near}`?)"));
                    let near = near.unwrap_or_default();
                    format!("slot `{name}` is named after no node{near}: say what fills it, `{name}: Type from(node)`")
                } else {
                    format!("no node is called `{wrong}`: {}", instead(graph, &wrong, false))
                };
                errors.over(source, message);
            }
        }
    }
}

/// Each source has an edge to its slot: otherwise the join would wait for ever.
pub(super) fn slots_are_fed(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, join) in joins(graph) {
        for (at, slot) in join.slots().iter().enumerate() {
            if join.slots()[..at].iter().any(|other| other.name() == slot.name()) {
                continue; // A second slot of one name, to which no target leads.
            }
            for source in &slot.sources {
                let Some(from) = graph.find(source).filter(|&from| may_feed(graph, from)) else { continue };
                if !places(graph, from).any(|place| place == Place::Slot(index, at)) {
                    let (source_name, name) = (&graph.nodes[from].name, &join.name);
                    let target = target(graph, from, join, slot);
                    let message = format!(
                        "`{source_name}` never goes to `{name}.{}`: give it `goto({target})`, or the slot another source",
                        slot.name()
                    );
                    errors.over(source, message);
                }
            }
        }
    }
}

/// Whether a node's edges are all parsed and the node can have edges: another rule reports sources beside the graph.
fn may_feed(graph: &GraphModel<'_>, from: usize) -> bool {
    !may_have_unparsed_edges(graph, from) && !graph.nodes[from].reports()
}

/// The shortest spelling of a slot as a target of `from`.
fn target(graph: &GraphModel<'_>, from: usize, join: &Node<'_>, slot: &Slot) -> String {
    let lists = |slot: &&Slot| slot.sources.iter().any(|source| source.unraw() == graph.nodes[from].name);
    match join.slots().iter().filter(lists).count() {
        1 => join.name.clone(),
        _ => format!("{}.{}", join.name, slot.name()),
    }
}

/// A slot lists its sources: a node that it does not list must not go there.
pub(super) fn only_sources_feed(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        for target in node.targets() {
            let (Ok(Place::Slot(join, at)), Some(spelled)) = (graph.resolve(index, target), &target.slot) else {
                continue;
            };
            let slot = &graph.nodes[join].slots()[at];
            if !slot.sources.iter().any(|source| source.unraw() == node.name) {
                let mut sources: Vec<String> = slot.sources.iter().map(|source| source.unraw().to_string()).collect();
                sources.push(node.name.clone());
                let message = format!(
                    "slot `{}` is not filled from `{}`: name it there, `{}: Type from({})`",
                    target.spelled(),
                    node.name,
                    slot.name(),
                    sources.join(", ")
                );
                errors.over(spelled, message);
            }
        }
    }
}
