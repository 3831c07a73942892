//! Names: each is unique, and each that is used is declared.

use super::questions::{instead, unresolved_message};
use crate::ast::{Cancel, GraphModel, Place, Target};
use crate::errors::Errors;
use crate::naming;
use interlocking_core::table::NodeKind;
use std::collections::HashMap;
use syn::ext::IdentExt;

/// No two fields have the same name: they would be one node with two rows. (`type` and `r#type` are the same name.)
pub(super) fn nodes_are_distinct(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        if graph.nodes[..index].iter().any(|other| other.name == node.name) {
            errors.over(node.ident, format_args!("two nodes are called `{}`: rename one", node.name));
        }
    }
}

/// Every target is a node, a slot of a join, or the exit; a join's bare name means the one slot that lists the source.
pub(super) fn targets_are_known(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        for target in node.targets() {
            let why = graph.resolve(index, target).err();
            if let Some((at, message)) = why.and_then(|why| unresolved_message(graph, index, target, why)) {
                errors.at(at, message);
            }
        }
    }
}

/// A cancelled name is a node, a join, a slot of a join, or `*`; neither the exit nor nodes beside the graph hold
/// tokens that could be cancelled.
pub(super) fn cancels_are_known(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        for list in node.cancels() {
            for (at, cancel) in list.iter().enumerate() {
                if list[..at].iter().any(|other| other.spelled() == cancel.spelled()) {
                    errors.at(cancel.span(), format_args!("`{}` is cancelled twice: keep one", cancel.spelled()));
                }
                match cancel {
                    Cancel::Everything(span) if list.len() > 1 => {
                        errors.at(*span, "`*` is everything: name nothing beside it");
                    }
                    Cancel::Everything(_) => {}
                    Cancel::Named(target) => cancel_is_known(graph, index, target, errors),
                }
            }
        }
    }
}

fn cancel_is_known(graph: &GraphModel<'_>, source: usize, target: &Target, errors: &Errors) {
    let name = target.node.unraw().to_string();
    if target.node == crate::ast::EXIT {
        errors.over(&target.node, "`exit` cannot be cancelled: a run that is there has ended");
    } else if target.slot.is_some() {
        let why = graph.resolve(source, target).err();
        if let Some((at, message)) = why.and_then(|why| unresolved_message(graph, source, target, why)) {
            errors.at(at, message);
        }
    } else if let Some(found) = graph.find(&target.node) {
        if graph.nodes[found].is_beside() {
            errors
                .over(&target.node, format_args!("`{name}` holds no token of the run, so nothing of it is cancelled"));
        }
    } else {
        errors.over(&target.node, format_args!("no node is called `{name}`: {}", instead(graph, &name, false)));
    }
}

/// A handler chooses among places, so each is listed once. The branches of a fork start in different places, since a
/// place holds one token.
pub(super) fn targets_differ(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let mut seen: Vec<Place> = Vec::new();
        for (target, _) in node.gotos() {
            let Ok(place) = graph.resolve(index, target) else { continue };
            if seen.contains(&place) {
                errors.over(&target.node, format_args!("`{}` is a target twice: keep one", target.spelled()));
            }
            seen.push(place);
        }
        let mut seen: Vec<(usize, Place)> = Vec::new();
        for (branch, target) in
            node.branches().iter().enumerate().flat_map(|(at, branch)| branch.iter().map(move |t| (at, t)))
        {
            let Ok(place) = graph.resolve(index, target) else { continue };
            let name = target.spelled();
            match seen.iter().find(|(_, other)| *other == place) {
                Some((other, _)) if *other == branch => {
                    errors.over(&target.node, format_args!("`{name}` is in this branch twice: keep one"));
                }
                Some(_) => errors.over(
                    &target.node,
                    format_args!("`{name}` is in two branches, and would get two tokens at once: keep one"),
                ),
                None => {}
            }
            seen.push((branch, place));
        }
    }
}

/// Nodes, slots and the exit share one module of markers: slot `spell` of join `desk` is `desk_spell` there.
pub(super) fn markers_differ(graph: &GraphModel<'_>, errors: &Errors) {
    let mut owners: HashMap<String, String> = HashMap::new();
    for node in &graph.nodes {
        owners.insert(node.name.clone(), format!("node `{}`", node.name));
    }
    for node in graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Join)) {
        let mut own: Vec<String> = Vec::new();
        for slot in node.slots() {
            let marker = naming::slot_marker(node, slot).to_string();
            if own.contains(&marker) {
                continue; // Two slots of one name: a rule of joins.
            }
            let this = format!("slot `{}.{}`", node.name, slot.name());
            if let Some(other) = owners.get(&marker) {
                let message =
                    format!("{this} and {other} would both be called `{}::{marker}`: rename one", graph.module);
                errors.over(&slot.name, message);
            }
            owners.insert(marker.clone(), this);
            own.push(marker);
        }
    }
}
