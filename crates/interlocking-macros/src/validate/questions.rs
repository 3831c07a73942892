//! What several rules ask, and words that several use.

use crate::ast::{Given, GraphModel, Lost, Place};
use crate::errors::Errors;
use interlocking_core::table::NodeKind;
use syn::Ident;
use syn::ext::IdentExt;

/// Whether the node may have edges that are not known, because what says so is wrong and reported already.
pub(super) fn is_in_doubt(graph: &GraphModel<'_>, index: usize) -> bool {
    let node = &graph.nodes[index];
    node.doubts.about_edges()
        || node.kind.is_none()
        || node.targets().any(|target| graph.resolve(index, target).is_err())
}

/// The places that the node leads to.
pub(super) fn places(graph: &GraphModel<'_>, index: usize) -> impl Iterator<Item = Place> {
    graph.nodes[index].targets().filter_map(move |target| graph.resolve(index, target).ok())
}

/// A list names each node once.
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

/// What to say of a name that stands for nothing: the nearest that does, or all of them.
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

/// Why a target is lost, for those losses that have a message of their own.
pub(super) fn lost(
    graph: &GraphModel<'_>,
    source: usize,
    target: &crate::ast::Target,
    why: Lost,
) -> Option<(proc_macro2::Span, String)> {
    let from = &graph.nodes[source].name;
    let name = target.node.unraw().to_string();
    let at = target.node.span();
    let slot = target.slot.as_ref();
    Some(match why {
        Lost::NoNode if name == "self" => {
            (at, format!("an edge to the node itself is spelled with its name: `{from}`"))
        }
        Lost::NoNode => (at, format!("no node is called `{name}`: {}", instead(graph, &name, true))),
        Lost::NoJoin => {
            (slot?.span(), format!("`{name}` is no join, so it has no slots: leave `.{}` out", slot?.unraw()))
        }
        Lost::NoSlot(join) => {
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
        Lost::NoSource(join) => {
            let example = graph.nodes[join].slots().first().map(crate::ast::Slot::name).unwrap_or_default();
            (
                at,
                format!(
                    "no slot of join `{name}` is filled from `{from}`: name it there, as in `{example}: Type from({from})`"
                ),
            )
        }
        Lost::SeveralSlots(join, slots) => {
            let slots: Vec<String> =
                slots.into_iter().map(|slot| format!("{name}.{}", graph.nodes[join].slots()[slot].name())).collect();
            let which = listed(slots.iter().map(String::as_str), "or");
            (at, format!("`{from}` may fill several slots of join `{name}`: say which, {which}"))
        }
        Lost::Beside(index) => (at, format!("`{name}` {}", beside(graph.nodes[index].kind))),
        Lost::InDoubt => return None,
    })
}
