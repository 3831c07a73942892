//! Queries and texts that several rules use.

use crate::ast::{Given, GraphModel, Place, Unresolved};
use crate::errors::Errors;
use interlocking_core::table::NodeKind;
use syn::Ident;
use syn::ext::IdentExt;

/// Whether the node may have edges that are not known, because of an error that is reported already.
pub(super) fn may_have_unparsed_edges(graph: &GraphModel<'_>, index: usize) -> bool {
    let node = &graph.nodes[index];
    node.unparsed.may_include_edges()
        || node.kind.is_none()
        || node.targets().any(|target| graph.resolve(index, target).is_err())
}

/// The places that the node leads to.
pub(super) fn places(graph: &GraphModel<'_>, index: usize) -> impl Iterator<Item = Place> {
    graph.nodes[index].targets().filter_map(move |target| graph.resolve(index, target).ok())
}

/// Checks that a list names each node once.
pub(super) fn are_distinct(list: &Option<Given<Vec<Ident>>>, errors: &Errors) {
    let Some(list) = list else { return };
    for (at, name) in list.value.iter().enumerate() {
        if list.value[..at].iter().any(|other| other.unraw() == name.unraw()) {
            errors.over(name, format_args!("`{}` lists `{}` twice: keep one", list.key, name.unraw()));
        }
    }
}

/// `` `a`, `b` or `c` ``.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((end, start)) if !start.is_empty() => format!("{} {last} {end}", start.join(", ")),
        _ => quoted.join(""),
    }
}

/// The hint for an unknown name: the nearest known name, or all known names.
pub(super) fn instead(graph: &GraphModel<'_>, name: &str, exit: bool) -> String {
    let exit = exit.then_some(crate::ast::EXIT);
    let known: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).chain(exit).collect();
    match crate::suggest::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("this graph has {}", listed(known, "and")),
    }
}

/// Why no edge leads to a node of this kind.
fn beside(kind: Option<NodeKind>) -> &'static str {
    match kind {
        Some(NodeKind::Advisory) => {
            "is an `AdvisoryNode`, which takes no token of the run: a handler starts it beside the graph, `spawn(…)`"
        }
        Some(NodeKind::Event) => "is an `EventNode`: messages start it, and no edge leads there",
        _ => "is an `ObserverNode`: it sees the nodes in its `observes(…)`, and no edge leads there",
    }
}

/// The message for a target that cannot be resolved, unless another message covers the reason.
pub(super) fn unresolved_message(
    graph: &GraphModel<'_>,
    source: usize,
    target: &crate::ast::Target,
    why: Unresolved,
) -> Option<(proc_macro2::Span, String)> {
    let from = &graph.nodes[source].name;
    let name = target.node.unraw().to_string();
    let at = target.node.span();
    let slot = target.slot.as_ref();
    Some(match why {
        Unresolved::NoNode if name == "self" => {
            (at, format!("an edge to the node itself is spelled with its name: `{from}`"))
        }
        Unresolved::NoNode => (at, format!("no node is called `{name}`: {}", instead(graph, &name, true))),
        Unresolved::NoJoin => {
            (slot?.span(), format!("`{name}` is no join, so it has no slots: leave `.{}` out", slot?.unraw()))
        }
        Unresolved::NoSlot(join) => {
            let slot = slot?;
            let slots: Vec<String> = graph.nodes[join].slots().iter().map(crate::ast::Slot::name).collect();
            let wrong = slot.unraw().to_string();
            let near = crate::suggest::nearest(&wrong, slots.iter().map(String::as_str));
            let hint = match near {
                Some(near) => format!("did you mean `{name}.{near}`?"),
                None => format!("it has {}", listed(slots.iter().map(String::as_str), "and")),
            };
            (slot.span(), format!("join `{name}` has no slot `{wrong}`: {hint}"))
        }
        Unresolved::NoSource(join) => {
            let example = graph.nodes[join].slots().first().map(crate::ast::Slot::name).unwrap_or_default();
            (
                at,
                format!(
                    "no slot of join `{name}` is filled from `{from}`: name it there, as in `{example}: Type from({from})`"
                ),
            )
        }
        Unresolved::SeveralSlots(join, slots) => {
            let slots: Vec<String> =
                slots.into_iter().map(|slot| format!("{name}.{}", graph.nodes[join].slots()[slot].name())).collect();
            let which = listed(slots.iter().map(String::as_str), "or");
            (at, format!("`{from}` may fill several slots of join `{name}`: say which, {which}"))
        }
        Unresolved::Beside(index) => (at, format!("`{name}` {}", beside(graph.nodes[index].kind))),
        Unresolved::Unparsed => return None,
    })
}
