//! Rows: what one `#[node(…)]` may and must contain.

use super::questions::may_have_unparsed_edges;
use crate::ast::{GraphModel, Node, Place, Visits};
use crate::errors::Errors;
use crate::spelling;
use std::collections::HashMap;

/// Names of roles, models and workspaces are looked up at run time, so an empty name would never be found. An empty
/// name in `exclusive` does not identify anything either.
pub(super) fn texts_say_something(graph: &GraphModel<'_>, errors: &Errors) {
    let texts = graph.nodes.iter().map(|node| &node.attributes);
    let texts = texts
        .flat_map(|attributes| [&attributes.agent, &attributes.model, &attributes.workspace, &attributes.exclusive]);
    for text in texts.flatten().filter(|text| text.value.trim().is_empty()) {
        errors.at(text.at, format_args!("`{}` is empty: name one", text.key));
    }
}

/// All bounds are at least 1: with 0 the node, or its children, would never run.
pub(super) fn bounds_let_the_node_run(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        let name = &node.name;
        if let Some(visits) = &node.attributes.visits
            && visits.value == Visits::AtMost(0)
        {
            errors.at(visits.at, format_args!("with `visits = 0` node `{name}` never runs: the least is 1"));
        }
        if let Some(attempts) = &node.attributes.attempts
            && attempts.value == 0
        {
            errors.at(attempts.at, format_args!("with `attempts = 0` node `{name}` never runs: the least is 1"));
        }
        for bound in [&node.attributes.concurrency, &node.attributes.depth].into_iter().flatten() {
            if bound.value == 0 {
                let key = &bound.key;
                errors.at(bound.at, format_args!("with `{key} = 0` no child of `{name}` ever runs: the least is 1"));
            }
        }
    }
}

/// `attempts` bounds the edge from a node to itself, so that edge must exist.
pub(super) fn attempts_bound_an_edge(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let Some(attempts) = &node.attributes.attempts else { continue };
        if !node.is_beside() && !may_have_unparsed_edges(graph, index) && !leads_to_itself(graph, index) {
            let name = &node.name;
            let message = format!(
                "`attempts` bounds the edge from a node to itself, and `{name}` has none: add `goto({name})`, or bound a longer loop with `visits`"
            );
            errors.over(&attempts.key, message);
        }
    }
}

fn leads_to_itself(graph: &GraphModel<'_>, index: usize) -> bool {
    let node = &graph.nodes[index];
    // The routes of a failure and of a timeout may lead to the node itself, too.
    let routes = [&node.attributes.timed_out, &node.attributes.failed].into_iter().flatten();
    let routes = routes.flat_map(|route| &route.value.targets);
    let mut targets = node.gotos().map(|(target, _)| target).chain(node.branches().iter().flatten()).chain(routes);
    targets.any(|target| match graph.resolve(index, target) {
        Ok(Place::Node(to) | Place::Slot(to, _)) => to == index,
        _ => false,
    })
}

/// An exhausted route is taken when a bound is reached, so there must be a bound.
pub(super) fn exhausted_has_a_bound(graph: &GraphModel<'_>, errors: &Errors) {
    let has_unparsed = |node: &Node<'_>| node.unparsed.may_include("visits") || node.unparsed.may_include("attempts");
    for node in graph.nodes.iter().filter(|node| !has_unparsed(node)) {
        let bounded = matches!(&node.attributes.visits, Some(visits) if visits.value != Visits::Unbounded);
        if let Some(route) = &node.attributes.exhausted
            && !bounded
            && node.attributes.attempts.is_none()
        {
            let name = &node.name;
            errors
                .over(&route.key, format_args!("nothing exhausts `{name}`: bound it, `visits = n` or `attempts = n`"));
        }
    }
}

/// The route of a timeout is taken when the timeout has passed, so there must be a timeout.
pub(super) fn timed_out_has_a_timeout(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| !node.unparsed.may_include("timeout")) {
        if let (Some(route), None) = (&node.attributes.timed_out, &node.attributes.timeout) {
            let name = &node.name;
            errors.over(&route.key, format_args!("`{name}` has no time to run out of: limit it, `timeout = \"10m\"`"));
        }
    }
}

/// `read_only` says how a node uses its workspace, so there must be one.
pub(super) fn read_only_has_a_workspace(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| !node.unparsed.may_include("workspace")) {
        if let (Some(read_only), None) = (&node.attributes.read_only, &node.attributes.workspace) {
            let name = &node.name;
            errors
                .over(read_only, format_args!("`{name}` has no workspace to leave as it was: `workspace = \"name\"`"));
        }
    }
}

/// The nodes of a memory group share one value, so they spell one type.
pub(super) fn a_memory_group_has_one_type(graph: &GraphModel<'_>, errors: &Errors) {
    let mut groups: HashMap<String, (&Node<'_>, String)> = HashMap::new();
    for node in &graph.nodes {
        let (Some(ty), Some(group)) = (node.memory_type(), node.memory_group()) else { continue };
        let spelled = spelling::of(ty);
        match groups.get(&group) {
            Some((first, held)) if *held != spelled => {
                let message = format!(
                    "memory group `{group}` holds `{held}` at `{}`: a group has one type, spelled alike",
                    first.name
                );
                errors.over(ty, message);
            }
            Some(_) => {}
            None => {
                groups.insert(group, (node, spelled));
            }
        }
    }
}

/// A fork with one branch is a goto, and with none a dead end.
pub(super) fn forks_have_branches(graph: &GraphModel<'_>, errors: &Errors) {
    for fork in graph.nodes.iter().filter_map(|node| node.attributes.fork.as_ref()) {
        if fork.value.branches.len() < 2 {
            errors.over(&fork.key, "a fork has two branches or more: `fork(first, second)`; for one, `goto(…)`");
        }
    }
}

/// A branch of a fork does not go to the exit: the exit is legal only when nothing else is live, and the other branches
/// are.
pub(super) fn branches_stay_in_the_graph(graph: &GraphModel<'_>, errors: &Errors) {
    for target in graph.nodes.iter().flat_map(|node| node.branches().iter().flatten()) {
        if target.node == crate::ast::EXIT {
            let message = "a branch cannot go to `exit`: the run would end while the other branches are live";
            errors.over(&target.node, message);
        }
    }
}
