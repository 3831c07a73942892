//! Joins with a quorum: when they fire, and what they clear.

use crate::ast::{Cancel, GraphModel, Node, Quorum};
use crate::errors::Errors;
use interlocking_core::table::NodeKind;
use quote::ToTokens;
use syn::Type;
use syn::ext::IdentExt;

fn joins<'g, 'a>(graph: &'g GraphModel<'a>) -> impl Iterator<Item = &'g Node<'a>> {
    graph.nodes.iter().filter(|node| node.kind == Some(NodeKind::Join))
}

/// A quorum is at least 1 and less than the number of slots: with 0 the join would fire at once, and a join without a
/// quorum already waits for all slots.
pub(super) fn a_quorum_is_some_slots(graph: &GraphModel<'_>, errors: &Errors) {
    for join in joins(graph) {
        let Some(quorum) = &join.attributes.quorum else { continue };
        let (name, slots) = (&join.name, join.slots().len());
        let message = match quorum.value {
            Quorum::Enough => {
                format!("what is `enough` a map's handler says: give the quorum of join `{name}` as a number")
            }
            Quorum::AtLeast(0) => format!("a quorum of 0 is reached by nothing: join `{name}` waits for 1 at least"),
            // Joins with fewer than two slots, or with slots that did not parse, are reported by other rules.
            Quorum::AtLeast(_) if slots < 2 => continue,
            Quorum::AtLeast(values) if values as usize == slots => {
                format!("`{values}` is all slots of join `{name}`, which every join waits for: take its `quorum` away")
            }
            Quorum::AtLeast(values) if values as usize > slots => {
                format!("join `{name}` has {slots} slots, which never come to a quorum of {values}")
            }
            Quorum::AtLeast(_) => continue,
        };
        errors.at(quorum.at, message);
    }
}

/// A join with a quorum must clear what would arrive after the quorum, and a join without one has no `cancels`.
pub(super) fn a_quorum_clears_the_rest(graph: &GraphModel<'_>, errors: &Errors) {
    for join in joins(graph) {
        let (name, attributes) = (&join.name, &join.attributes);
        match (&attributes.quorum, &attributes.cancels) {
            (Some(quorum), None) if !join.unparsed.may_include("cancels") => {
                let message = format!(
                    "what comes to join `{name}` after its quorum would be a second token: say what is cleared then, \
                     `cancels(a, b)`"
                );
                errors.over(&quorum.key, message);
            }
            (None, Some(cancels)) if !join.unparsed.may_include("quorum") => errors.over(
                &cancels.key,
                format_args!(
                    "only a join with a `quorum` clears something by itself: give `{name}` one, or say `goto(target, cancels(…))`"
                ),
            ),
            (Some(_), Some(cancels)) => {
                for cancel in &cancels.value {
                    if let Cancel::Named(target) = cancel
                        && target.node.unraw() == *name
                    {
                        let spelled = target.spelled();
                        errors.over(
                            &target.node,
                            format_args!("join `{name}` is cleared whole when it fires: leave `{spelled}` out"),
                        );
                    }
                }
            }
            _ => {}
        }
    }
}

/// The slots of a join with a quorum are not latched. Only such a join has optional slots, whose type must not itself be
/// stored as `null`.
pub(super) fn slots_fit_the_quorum(graph: &GraphModel<'_>, errors: &Errors) {
    for join in joins(graph) {
        let has_quorum = join.attributes.quorum.is_some();
        for slot in join.slots() {
            let name = slot.name();
            if let Some(latched) = slot.latched.as_ref().filter(|_| has_quorum) {
                errors.over(
                    latched,
                    format_args!(
                        "slot `{name}` cannot be latched: join `{}` has a quorum, and keeps nothing for later rounds",
                        join.name
                    ),
                );
            }
            let Some(optional) = &slot.optional else { continue };
            if !has_quorum && !join.unparsed.may_include("quorum") {
                errors.over(
                    optional,
                    format_args!(
                        "slot `{name}` is optional, and nothing counts its values: give join `{}` a `quorum`",
                        join.name
                    ),
                );
            } else if is_stored_as_null(&slot.ty) {
                errors.over(
                    &slot.ty,
                    format_args!(
                        "an optional slot takes `None` for nothing, which is stored as a value of this type is: take another type for `{name}`"
                    ),
                );
            }
        }
    }
}

/// Whether a value of the type is stored as `null`, judged by the type's spelling.
fn is_stored_as_null(ty: &Type) -> bool {
    match ty {
        Type::Tuple(tuple) => tuple.elems.is_empty(),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Option"),
        Type::Paren(inner) => is_stored_as_null(&inner.elem),
        Type::Group(inner) => is_stored_as_null(&inner.elem),
        _ => false,
    }
}

/// A join with a quorum is cleared as a whole, not slot by slot.
pub(super) fn joins_with_a_quorum_are_cleared_whole(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let own = node.attributes.cancels.as_ref().map(|cancels| &cancels.value[..]).unwrap_or_default();
        for (list, cancel) in node.cancels().flat_map(|list| list.iter().map(move |cancel| (list, cancel))) {
            let Cancel::Named(target) = cancel else { continue };
            // Another rule reports a join that clears itself at its quorum.
            if std::ptr::eq(list, own) && target.node.unraw() == node.name {
                continue;
            }
            let Some(slot) = &target.slot else { continue };
            let Some(join) = graph.find(&target.node).map(|found| &graph.nodes[found]) else { continue };
            if join.attributes.quorum.is_some() && graph.resolve(index, target).is_ok() {
                let name = &join.name;
                errors.over(
                    slot.to_token_stream(),
                    format_args!("join `{name}` has a quorum, so it is cleared whole: `cancels({name})`"),
                );
            }
        }
    }
}
