//! The rules of shape, one function per rule. Each rule reports all its violations, and no rule reports an error that
//! another rule has reported: where part of a row did not parse or a name is unknown, rules about the whole graph skip
//! that node.

mod beside;
mod children;
mod edges;
mod flow;
mod isolation;
mod joins;
mod kinds;
mod names;
mod payloads;
mod questions;
mod quorum;
mod rows;
mod unhandled;

#[cfg(test)]
pub(crate) use self::kinds::misfit;
pub(crate) use self::payloads::borrows;
use crate::ast::GraphModel;
use crate::errors::Errors;

/// Checks the shape of a graph: names, rows, joins and edges.
///
/// Checks on the compiled net (soundness) follow for a graph that passed.
pub(crate) fn shape(graph: &GraphModel<'_>, errors: &Errors) {
    names::nodes_are_distinct(graph, errors);
    names::targets_are_known(graph, errors);
    names::cancels_are_known(graph, errors);
    names::targets_differ(graph, errors);
    names::markers_differ(graph, errors);

    kinds::attributes_fit_the_kind(graph, errors);
    kinds::required_attributes_are_there(graph, errors);
    kinds::reports_go_to_the_exit(graph, errors);

    children::a_child_is_named(graph, errors);
    children::recursion_has_a_depth(graph, errors);
    children::a_section_does_not_run_itself(graph, errors);
    children::a_graph_does_not_hold_itself(graph, errors);
    children::a_quorum_waits_for_a_child(graph, errors);

    unhandled::a_handler_chooses(graph, errors);
    unhandled::a_handler_makes_the_prompt(graph, errors);

    payloads::payloads_own_their_data(graph, errors);

    rows::texts_say_something(graph, errors);
    rows::bounds_let_the_node_run(graph, errors);
    rows::attempts_bound_an_edge(graph, errors);
    rows::exhausted_has_a_bound(graph, errors);
    rows::timed_out_has_a_timeout(graph, errors);
    rows::read_only_has_a_workspace(graph, errors);
    rows::a_memory_group_has_one_type(graph, errors);
    rows::forks_have_branches(graph, errors);
    rows::branches_stay_in_the_graph(graph, errors);

    edges::budgets_let_edges_be_taken(graph, errors);
    edges::the_exit_has_no_budget(graph, errors);
    edges::an_edge_has_one_budget(graph, errors);

    isolation::isolation_has_an_agent(graph, errors);
    isolation::a_workspace_has_one_isolation(graph, errors);
    isolation::a_worktree_hides_nothing(graph, errors);
    isolation::blind_to_names_other_workspaces(graph, errors);

    joins::slots_are_distinct(graph, errors);
    joins::joins_wait_for_several(graph, errors);
    joins::a_slot_is_not_latched(graph, errors);
    joins::sources_are_known(graph, errors);
    joins::slots_are_fed(graph, errors);
    joins::only_sources_feed(graph, errors);

    quorum::a_quorum_is_some_slots(graph, errors);
    quorum::a_quorum_clears_the_rest(graph, errors);
    quorum::slots_fit_the_quorum(graph, errors);
    quorum::joins_with_a_quorum_are_cleared_whole(graph, errors);

    beside::spawned_are_advisory(graph, errors);
    beside::advisories_are_spawned(graph, errors);
    beside::observed_are_known(graph, errors);
    beside::events_lead_somewhere(graph, errors);
    beside::transient_messages_can_be_used(graph, errors);
    beside::items_are_added_to_maps(graph, errors);
    beside::redirects_clear_something(graph, errors);
    beside::slots_are_filled_from_the_graph(graph, errors);
    beside::observers_remember_alone(graph, errors);

    flow::there_is_one_entry(graph, errors);
    flow::the_entry_takes_one_value(graph, errors);
    let reach = flow::Reach::of(graph);
    flow::every_node_is_reached(graph, &reach, errors);
    flow::every_node_leads_to_exit(graph, &reach, errors);
}
