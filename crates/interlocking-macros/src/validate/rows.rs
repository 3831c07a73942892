//! Rows: what one `#[node(…)]` may and must say.

use super::is_in_doubt;
use crate::ast::{GraphModel, Node, Place, Visits};
use crate::errors::Errors;
use crate::spelling;
use interlocking_core::table::NodeKind;
use std::collections::HashMap;
use syn::Ident;

/// Each attribute belongs to some kinds: an input to all that take one value, slots to joins, prompts to LLM nodes.
pub(super) fn attributes_fit_the_kind(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        let Some(kind) = node.kind else { continue };
        let attributes = &node.attributes;
        if let (NodeKind::Join, Some(input)) = (kind, &attributes.input) {
            errors.over(&input.key, "a `JoinNode` takes one value a slot, not an input: `join(slot: Type, …)`");
        }
        if let (NodeKind::Fork, Some(goto)) = (kind, attributes.goto.first()) {
            errors.over(
                &goto.key,
                "a `ForkNode` always continues on all branches of its `fork(…)`: a `LogicNode` may have both",
            );
        }
        if kind != NodeKind::Join
            && let Some(slots) = &attributes.slots
        {
            errors.over(&slots.key, format_args!("only a `JoinNode` has slots; a `{kind}` takes `input = Type`"));
        }
        if kind != NodeKind::Llm {
            let keys: [Option<&Ident>; 3] = [
                attributes.prompt.as_ref().map(|prompt| &prompt.key),
                attributes.output.as_ref().map(|output| &output.key),
                attributes.agent.as_ref().map(|agent| &agent.key),
            ];
            for key in keys.into_iter().flatten() {
                errors.over(key, format_args!("only an `LLMNode` has an agent, so a `{kind}` has no `{key}`"));
            }
        }
    }
}

/// A node takes something; an LLM node has a prompt and an output besides, a fork its branches.
pub(super) fn required_attributes_are_there(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        let Some(kind) = node.kind else { continue };
        let (name, attributes) = (&node.name, &node.attributes);
        let missing = |key: &str, what: &str, example: &str| {
            if !node.doubts.about(key) {
                errors.over(node.ident, format_args!("{kind} `{name}` has no {what}: `{example}`"));
            }
        };
        match kind {
            NodeKind::Join if attributes.slots.is_none() => missing("join", "slots", "join(first: Type, second: Type)"),
            NodeKind::Join => {}
            _ if attributes.input.is_none() => missing("input", "input", "input = Type"),
            _ => {}
        }
        if kind == NodeKind::Llm && attributes.prompt.is_none() {
            missing("prompt", "prompt", "prompt = Template<'_>");
        }
        if kind == NodeKind::Llm && attributes.output.is_none() {
            missing("output", "output", "output = Type");
        }
        if kind == NodeKind::Fork && attributes.fork.is_none() {
            missing("fork", "branches", "fork(first, second)");
        }
    }
}

/// Names of roles and workspaces are looked up at run time; an empty one would never be found.
pub(super) fn texts_say_something(graph: &GraphModel<'_>, errors: &Errors) {
    let texts = graph.nodes.iter().flat_map(|node| [&node.attributes.agent, &node.attributes.workspace]);
    for text in texts.flatten().filter(|text| text.value.trim().is_empty()) {
        errors.at(text.at, format_args!("`{}` is empty: name one", text.key));
    }
}

/// `visits` and `attempts` count from 1: zero would be a node that never runs.
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
    }
}

/// `attempts` bounds the edge from a node to itself; without that edge it would bound nothing.
pub(super) fn attempts_bound_an_edge(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let Some(attempts) = &node.attributes.attempts else { continue };
        if !is_in_doubt(graph, index) && !leads_to_itself(graph, index) {
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
    let mut targets = node.gotos().map(|(target, _)| target).chain(node.branches().iter().flatten());
    targets.any(|target| match graph.resolve(index, target) {
        Ok(Place::Node(to) | Place::Slot(to, _)) => to == index,
        _ => false,
    })
}

/// An exhausted route is taken when a bound is reached; without one it never is.
pub(super) fn exhausted_has_a_bound(graph: &GraphModel<'_>, errors: &Errors) {
    let in_doubt = |node: &Node<'_>| node.doubts.about("visits") || node.doubts.about("attempts");
    for node in graph.nodes.iter().filter(|node| !in_doubt(node)) {
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

/// `read_only` says how a node uses its workspace, so there must be one.
pub(super) fn read_only_has_a_workspace(graph: &GraphModel<'_>, errors: &Errors) {
    for node in graph.nodes.iter().filter(|node| !node.doubts.about("workspace")) {
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
        let (Some(memory), Some(group)) = (&node.attributes.memory, node.memory_group()) else { continue };
        let spelled = spelling::of(&memory.value.ty);
        match groups.get(&group) {
            Some((first, ty)) if *ty != spelled => {
                let message = format!(
                    "memory group `{group}` holds `{ty}` at `{}`: a group has one type, spelled alike",
                    first.name
                );
                errors.over(&memory.value.ty, message);
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

/// The exit is legal only when nothing else is live, and beside a branch the others are.
pub(super) fn branches_stay_in_the_graph(graph: &GraphModel<'_>, errors: &Errors) {
    for target in graph.nodes.iter().flat_map(|node| node.branches().iter().flatten()) {
        if target.node == crate::ast::EXIT {
            let message = "a branch cannot go to `exit`: the run would end while the other branches are live";
            errors.over(&target.node, message);
        }
    }
}
