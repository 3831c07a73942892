//! Child graphs: how a node names the graph that it runs.

use crate::ast::{GraphModel, Quorum};
use crate::errors::Errors;
use crate::naming;
use interlocking_core::table::NodeKind;

/// A graph that runs itself could do so for ever, so the row must bound the depth.
pub(super) fn recursion_has_a_depth(graph: &GraphModel<'_>, errors: &Errors) {
    let own = &graph.input.ident;
    for node in graph.nodes.iter().filter(|node| node.attributes.depth.is_none() && !node.unparsed.may_include("depth"))
    {
        if let Some(child) = node.child_graph().filter(|child| naming::is_name(child, own)) {
            let message = format!(
                "`{own}` runs itself here, and could do so for ever: say how many runs deep its children may nest, `depth = 3`"
            );
            errors.over(child, message);
        }
    }
}

/// An exclusive graph node must not run its own graph: the child would wait for the turn that its parent holds.
pub(super) fn a_section_does_not_run_itself(graph: &GraphModel<'_>, errors: &Errors) {
    let own = &graph.input.ident;
    for node in graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Graph)) {
        let runs_itself = node.child_graph().is_some_and(|child| naming::is_name(child, own));
        if let Some(exclusive) = node.attributes.exclusive.as_ref().filter(|_| runs_itself) {
            let message = format!(
                "`{}` runs its own graph, whose run would wait for the turn that its parent has: take its `exclusive` away",
                node.name
            );
            errors.at(exclusive.at, message);
        }
    }
}

/// A child graph is given by its name, even if it is the graph itself: `Self` would mean the marker where the derive
/// writes it.
pub(super) fn a_child_is_named(graph: &GraphModel<'_>, errors: &Errors) {
    let own = &graph.input.ident;
    for node in &graph.nodes {
        if let Some(child) = node.child_graph().filter(|child| naming::last_name(child).as_deref() == Some("Self")) {
            let key = if node.attributes.map.is_some() { "map" } else { "graph" };
            errors.over(child, format_args!("a graph that runs itself is spelled with its name: `{key} = {own}`"));
        }
    }
}

/// A map must wait for at least one of its children: otherwise it would start them for nothing.
pub(super) fn a_quorum_waits_for_a_child(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Map)) {
        if let Some(quorum) = node.attributes.quorum.as_ref().filter(|quorum| quorum.value == Quorum::AtLeast(0)) {
            let name = &node.name;
            let message = format!("with `quorum = 0` map `{name}` would wait for none of its children: the least is 1");
            errors.at(quorum.at, message);
        }
    }
}

/// A graph must not hold itself: such a struct could never be made.
pub(super) fn a_graph_does_not_hold_itself(graph: &GraphModel<'_>, errors: &Errors) {
    let own = &graph.input.ident;
    for node in graph.nodes.iter().filter(|node| node.passes_on()) {
        if naming::argument(&node.field.ty).is_some_and(|child| naming::is_name(child, own)) {
            let message = format!(
                "`{own}` would hold itself and could never be made: let a handler give the child graph, `cx.own_graph()`, in `GraphNode<Handler>`"
            );
            errors.over(&node.field.ty, message);
        }
    }
}
