//! The model as a [`Table`], which the derive compiles to a net with the same code that a run uses.

use crate::ast::{Cancel, Given, GraphModel, Group, Node, Quorum, Target, Visits};
use crate::spelling;
use interlocking_core::table::{self, Isolation, NodeKind, NodeRow, Table};
use syn::ext::IdentExt;
use syn::{Ident, Type};

/// The routing table of a graph whose shape has been checked.
pub(crate) fn of(graph: &GraphModel<'_>) -> Table {
    let output = graph.output.as_ref().map(spelling::of).unwrap_or_default();
    let mut table = Table::new(graph.input.ident.unraw().to_string(), output);
    table.nodes = graph.nodes.iter().enumerate().map(|(index, node)| row(node, graph.isolation(index))).collect();
    table
}

fn row(node: &Node<'_>, isolation: Option<Isolation>) -> NodeRow {
    let attributes = &node.attributes;
    let kind = node.kind.unwrap_or(NodeKind::Logic);
    let mut row = NodeRow::new(&node.name, kind);
    row.entry = attributes.entry.is_some();
    row.input = node.input().map(spelling::of);
    for slot in node.slots() {
        let sources = slot.sources.iter().map(|source| source.unraw().to_string()).collect();
        let ty = spelling::of(&slot.ty);
        let (latched, optional) = (slot.latched.is_some(), slot.optional.is_some());
        row.slots.push(table::Slot { name: slot.name(), ty, sources, latched, optional });
    }
    row.prompt = spelled(&attributes.prompt).or_else(|| node.input_as_prompt().map(spelling::of));
    row.output = spelled(&attributes.output);
    row.goto = node.gotos().map(|(to, group)| edge(to, group)).collect();
    row.fork = attributes.fork.as_ref().map(|fork| table::Fork {
        branches: fork.value.branches.iter().map(|branch| branch.iter().map(target).collect()).collect(),
        cancels: names(&fork.value.cancels),
    });
    row.exhausted = route(&attributes.exhausted);
    row.timed_out = route(&attributes.timed_out);
    row.failed = route(&attributes.failed);
    row.exclusive = attributes.exclusive.as_ref().map(|name| name.value.clone());
    row.visits = attributes.visits.as_ref().map(|visits| match visits.value {
        Visits::AtMost(limit) => table::Visits::AtMost(limit),
        Visits::Unbounded => table::Visits::Unbounded,
    });
    row.attempts = attributes.attempts.as_ref().map(|attempts| attempts.value);
    row.timeout_ms = attributes.timeout.as_ref().map(|timeout| timeout.value);
    row.agent = match &attributes.agent {
        Some(agent) => Some(agent.value.clone()),
        None => (kind == NodeKind::Llm || attributes.prompt.is_some()).then(|| node.name.clone()),
    };
    row.model = attributes.model.as_ref().map(|model| model.value.clone());
    row.workspace = attributes.workspace.as_ref().map(|workspace| workspace.value.clone());
    row.read_only = attributes.read_only.is_some();
    row.isolation = isolation;
    row.blind_to = plain(node.blind_to());
    row.memory =
        node.memory_type().zip(node.memory_group()).map(|(ty, group)| table::MemoryRow { group, ty: spelling::of(ty) });
    row.spawn = plain(node.spawned());
    row.resume = attributes.resume.is_some();
    row.transient = attributes.transient.is_some();
    row.map = spelled(&attributes.map);
    row.concurrency = attributes.concurrency.as_ref().map(|concurrency| concurrency.value);
    row.depth = attributes.depth.as_ref().map(|depth| depth.value);
    row.adopt = attributes.adopt.is_some();
    row.graph = spelled(&attributes.graph);
    row.quorum = attributes.quorum.as_ref().map(|quorum| match quorum.value {
        Quorum::AtLeast(count) => table::Quorum::AtLeast(count),
        Quorum::Enough => table::Quorum::Enough,
    });
    row.cancels = attributes.cancels.as_ref().map(|cancels| names(&cancels.value)).unwrap_or_default();
    row.adds_to = attributes.adds_to.as_ref().map(|maps| plain(&maps.value)).unwrap_or_default();
    row.question = spelled(&attributes.question);
    row.answer = spelled(&attributes.answer);
    row.report = spelled(&attributes.report);
    row.observes = plain(node.observed());
    row
}

fn edge(to: &Target, group: &Group) -> table::Goto {
    let exhausted = group.exhausted.as_ref().and_then(|route| goto(&route.value)).map(Box::new);
    let times = group.times.as_ref().map(|times| times.value);
    table::Goto { to: target(to), cancels: names(&group.cancels), times, exhausted }
}

fn route(given: &Option<Given<Group>>) -> Option<table::Goto> {
    goto(&given.as_ref()?.value)
}

fn goto(group: &Group) -> Option<table::Goto> {
    Some(edge(group.targets.first()?, group))
}

fn spelled(ty: &Option<Given<Type>>) -> Option<String> {
    ty.as_ref().map(|ty| spelling::of(&ty.value))
}

fn plain(names: &[Ident]) -> Vec<String> {
    names.iter().map(|name| name.unraw().to_string()).collect()
}

fn target(target: &Target) -> table::Target {
    target.spelled().into()
}

fn names(cancels: &[Cancel]) -> Vec<String> {
    cancels.iter().map(Cancel::spelled).collect()
}
