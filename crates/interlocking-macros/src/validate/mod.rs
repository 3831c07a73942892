//! The rules of shape, one function a rule. Each reports all that breaks it, and none reports what another has: where
//! part of a row did not parse or a name stands for nothing, rules about the whole graph leave that node alone.

mod beside;
mod flow;
mod isolation;
mod joins;
mod kinds;
mod names;
mod rows;

use crate::ast::{Given, GraphModel, Lost, Place};
use crate::errors::Errors;
use interlocking_core::table::NodeKind;
use syn::Ident;
use syn::ext::IdentExt;

/// Checks the shape of a graph: names, rows, joins, and what leads where.
///
/// What can be checked only on the compiled net (soundness) comes after it, on a graph that passed.
pub(crate) fn shape(graph: &GraphModel<'_>, errors: &Errors) {
    names::nodes_are_distinct(graph, errors);
    names::targets_are_known(graph, errors);
    names::cancels_are_known(graph, errors);
    names::targets_differ(graph, errors);
    names::markers_differ(graph, errors);

    kinds::attributes_fit_the_kind(graph, errors);
    kinds::required_attributes_are_there(graph, errors);
    kinds::reports_go_to_the_exit(graph, errors);
    kinds::a_child_is_named(graph, errors);
    kinds::recursion_has_a_depth(graph, errors);

    rows::texts_say_something(graph, errors);
    rows::bounds_let_the_node_run(graph, errors);
    rows::attempts_bound_an_edge(graph, errors);
    rows::exhausted_has_a_bound(graph, errors);
    rows::read_only_has_a_workspace(graph, errors);
    rows::a_memory_group_has_one_type(graph, errors);
    rows::forks_have_branches(graph, errors);
    rows::branches_stay_in_the_graph(graph, errors);

    isolation::somebody_is_isolated(graph, errors);
    isolation::a_workspace_has_one_isolation(graph, errors);
    isolation::a_worktree_hides_nothing(graph, errors);
    isolation::the_hidden_are_elsewhere(graph, errors);

    joins::slots_are_distinct(graph, errors);
    joins::joins_wait_for_several(graph, errors);
    joins::a_slot_is_not_latched(graph, errors);
    joins::sources_are_known(graph, errors);
    joins::slots_are_fed(graph, errors);
    joins::only_sources_feed(graph, errors);

    beside::spawned_are_advisory(graph, errors);
    beside::advisories_are_spawned(graph, errors);
    beside::observed_are_known(graph, errors);
    beside::events_lead_somewhere(graph, errors);
    beside::redirects_clear_something(graph, errors);
    beside::slots_are_filled_from_the_graph(graph, errors);
    beside::observers_remember_alone(graph, errors);

    flow::there_is_one_entry(graph, errors);
    flow::the_entry_takes_one_value(graph, errors);
    flow::every_node_is_reached(graph, errors);
    flow::every_node_leads_to_exit(graph, errors);
}

/// Whether the node may have edges that are not known, because what says so is wrong and reported already.
fn is_in_doubt(graph: &GraphModel<'_>, index: usize) -> bool {
    let node = &graph.nodes[index];
    node.doubts.about_edges()
        || node.kind.is_none()
        || node.targets().any(|target| graph.resolve(index, target).is_err())
}

/// The places that the node leads to.
fn places(graph: &GraphModel<'_>, index: usize) -> impl Iterator<Item = Place> {
    graph.nodes[index].targets().filter_map(move |target| graph.resolve(index, target).ok())
}

/// A list names each node once.
fn are_distinct(list: &Option<Given<Vec<Ident>>>, errors: &Errors) {
    let Some(list) = list else { return };
    for (at, name) in list.value.iter().enumerate() {
        if list.value[..at].iter().any(|other| other.unraw() == name.unraw()) {
            errors.over(name, format_args!("`{}` lists `{}` twice: keep one", list.key, name.unraw()));
        }
    }
}

/// `` `a`, `b` or `c` ``.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((end, start)) if !start.is_empty() => format!("{} {last} {end}", start.join(", ")),
        _ => quoted.join(""),
    }
}

/// What to say of a name that stands for nothing: the nearest that does, or all of them.
fn instead(graph: &GraphModel<'_>, name: &str, exit: bool) -> String {
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
fn lost(
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
