//! Rules for nodes beside the graph: advisory nodes and their spawners, observers and the nodes they observe, events
//! and what they clear. None of these nodes takes a token of the run.

use super::questions::{are_distinct, listed};
use crate::ast::{GraphModel, Node};
use crate::errors::Errors;
use crate::suggest;
use interlocking_core::table::NodeKind;
use syn::Ident;
use syn::ext::IdentExt;

/// `spawn(…)` names advisory nodes, each once: a handler may start each as often as it likes.
pub(super) fn spawned_are_advisory(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        are_distinct(&node.attributes.spawn, errors);
        are_of_kind(NodeKind::Advisory, node.spawned(), "which is not spawned", graph, errors);
    }
}

/// An advisory node must be spawned by some node: otherwise it would be declared and never run.
pub(super) fn advisories_are_spawned(graph: &GraphModel<'_>, errors: &Errors) {
    // If a `spawn` did not parse, or has an unknown name, the spawned nodes are not known.
    let has_unparsed_spawn = |node: &Node<'_>| {
        node.unparsed.may_include("spawn") || node.spawned().iter().any(|name| graph.find(name).is_none())
    };
    if graph.nodes.iter().any(has_unparsed_spawn) {
        return;
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        let is_spawned = graph.nodes.iter().flat_map(Node::spawned).any(|name| graph.find(name) == Some(index));
        if node.kind == Some(NodeKind::Advisory) && graph.is_first_of_its_name(index) && !is_spawned {
            let name = &node.name;
            errors.over(node.ident, format_args!("no node starts `{name}`: name it at a node, `spawn({name})`"));
        }
    }
}

/// An observer observes nodes of the graph, each once, and neither itself nor another observer.
pub(super) fn observed_are_known(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        are_distinct(&node.attributes.observes, errors);
        for name in node.observed() {
            let wrong = name.unraw().to_string();
            match graph.find(name) {
                None => {
                    errors.over(
                        name,
                        format_args!(
                            "no node is called `{wrong}`: {}",
                            super::questions::instead(graph, &wrong, false)
                        ),
                    );
                }
                Some(seen) if seen == index => {
                    errors.over(name, format_args!("`{wrong}` cannot see itself: name the nodes that it is about"));
                }
                Some(seen) if graph.nodes[seen].kind == Some(NodeKind::Observer) => {
                    let message = format!("`{wrong}` only sees, too: name the nodes that it observes");
                    errors.over(name, message);
                }
                Some(_) => {}
            }
        }
    }
}

/// An event node must be able to leave the run as it is or to redirect it: otherwise its handler could not return.
pub(super) fn events_lead_somewhere(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Event)) {
        let has_unparsed = ["goto", "resume", "adds_to"].into_iter().any(|key| node.unparsed.may_include(key));
        let may_stay = node.attributes.resume.is_some() || node.attributes.adds_to.is_some();
        if node.attributes.goto.is_empty() && !may_stay && !has_unparsed {
            let name = &node.name;
            errors.over(
                node.ident,
                format_args!("event node `{name}` leads nowhere: `resume` leaves the run as it is, `goto(node, cancels(…))` redirects it"),
            );
        }
    }
}

/// A transient event node needs a target or a map: otherwise the run could never use a message, and each would be
/// dropped.
pub(super) fn transient_messages_can_be_used(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Event)) {
        let has_unparsed = ["goto", "adds_to"].into_iter().any(|key| node.unparsed.may_include(key));
        let leads_nowhere = node.attributes.goto.is_empty() && node.attributes.adds_to.is_none();
        if let Some(transient) = node.attributes.transient.as_ref().filter(|_| leads_nowhere && !has_unparsed) {
            let name = &node.name;
            errors.over(
                transient,
                format_args!("the run never waits for `{name}`, so all its messages would be lost: lead somewhere, `goto(node, cancels(…))`, or take its `transient` away"),
            );
        }
    }
}

/// `adds_to(…)` names maps, each once.
pub(super) fn items_are_added_to_maps(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Event)) {
        are_distinct(&node.attributes.adds_to, errors);
        are_of_kind(NodeKind::Map, node.adds_to(), "which has no items", graph, errors);
    }
}

/// An event node consumes no token, so a redirect must clear the region that it takes the run from.
pub(super) fn redirects_clear_something(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Event)) {
        let of_edges = node.attributes.goto.iter().filter_map(|group| group.value.exhausted.as_deref());
        let groups = node.attributes.goto.iter().chain(&node.attributes.exhausted).chain(of_edges);
        for group in groups.filter(|group| group.value.cancels.is_empty()) {
            let (key, target) = (&group.key, group.value.targets.first());
            let target = target.map(crate::ast::Target::spelled).unwrap_or_default();
            errors.over(
                key,
                format_args!(
                    "a message takes the run from somewhere: say what it clears, `{key}({target}, cancels(…))`"
                ),
            );
        }
    }
}

/// Slots are filled along edges, and no edge leads from an advisory node or an observer.
pub(super) fn slots_are_filled_from_the_graph(graph: &GraphModel<'_>, errors: &Errors) {
    for slot in graph.nodes.iter().flat_map(Node::slots) {
        for source in &slot.sources {
            let Some(from) = graph.find(source).map(|from| &graph.nodes[from]).filter(|from| from.reports()) else {
                continue;
            };
            let Some(kind) = from.kind else { continue };
            let (slot, name) = (slot.name(), &from.name);
            errors.over(
                source,
                format_args!("slot `{slot}` cannot be filled from `{name}`: an `{kind}` works beside the graph and reports at the exit"),
            );
        }
    }
}

/// An observer shares its memory, which is its report, with no other node: a node that read it would be influenced by
/// the observer.
pub(super) fn observers_remember_alone(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let Some(group) = node.attributes.memory.as_ref().and_then(|memory| memory.value.group.as_ref()) else {
            continue;
        };
        let found = graph.find(group).filter(|&found| found != index);
        if found.is_some_and(|found| graph.nodes[found].kind == Some(NodeKind::Observer)) {
            let name = group.unraw();
            errors
                .over(group, format_args!("the memory of observer `{name}` is its own: call the group something else"));
        }
    }
}

/// Each of `names` is a node of this kind. For a node of another kind, `which` is the end of the message.
fn are_of_kind(kind: NodeKind, names: &[Ident], which: &str, graph: &GraphModel<'_>, errors: &Errors) {
    let all = || graph.nodes.iter().filter(|node| node.kind == Some(kind)).map(|node| node.name.as_str());
    for name in names {
        let wrong = name.unraw().to_string();
        let what = match graph.find(name).map(|found| graph.nodes[found].kind) {
            None => format!("no node is called `{wrong}`"),
            Some(None) => continue,
            Some(Some(found)) if found == kind => continue,
            Some(Some(found)) => format!("`{wrong}` is no `{kind}` but a `{found}`, {which}"),
        };
        let hint = match suggest::nearest(&wrong, all()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if all().next().is_none() => format!("this graph has no `{kind}`"),
            None => format!("this graph has {}", listed(all(), "and")),
        };
        errors.over(name, format_args!("{what}: {hint}"));
    }
}
