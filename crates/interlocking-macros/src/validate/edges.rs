//! Budgets on edges: `goto(target, times = n)`.

use crate::ast::{EXIT, Given, GraphModel, Target};
use crate::errors::Errors;

/// Every edge with a budget: its source, where it leads, and the budget.
fn budgets<'g>(graph: &'g GraphModel<'_>) -> impl Iterator<Item = (&'g str, &'g Target, &'g Given<u32>)> {
    graph.nodes.iter().flat_map(|node| {
        let budgeted = node.gotos().filter_map(|(to, group)| Some((to, group.times.as_ref()?)));
        budgeted.map(|(to, times)| (node.name.as_str(), to, times))
    })
}

/// A budget is at least 1: with 0 the edge would never be taken.
pub(super) fn budgets_let_edges_be_taken(graph: &GraphModel<'_>, errors: &Errors) {
    for (from, to, times) in budgets(graph).filter(|(_, _, times)| times.value == 0) {
        let to = to.spelled();
        errors.at(
            times.at,
            format_args!("with `times = 0` the edge from `{from}` to `{to}` is never taken: the least is 1"),
        );
    }
}

/// An edge to the exit has no budget, as a run goes to the exit once.
pub(super) fn the_exit_has_no_budget(graph: &GraphModel<'_>, errors: &Errors) {
    for (_, _, times) in budgets(graph).filter(|(_, to, _)| to.node == EXIT) {
        errors.over(&times.key, "a run goes to `exit` once: take the budget of that edge away");
    }
}

/// `attempts` bounds the edge from a node to itself, in each visit; `times` would be a second bound on the same edge.
pub(super) fn an_edge_has_one_budget(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| node.attributes.attempts.is_some()) {
        let own = node.gotos().filter(|(to, _)| to.slot.is_none() && to.spelled() == node.name);
        for times in own.filter_map(|(_, group)| group.times.as_ref()) {
            let name = &node.name;
            let message = format!(
                "`attempts` bounds the edge from `{name}` to itself already: keep `attempts`, which counts in each visit, or `times`, which counts in the whole run"
            );
            errors.over(&times.key, message);
        }
    }
}
