//! The routing table as data. `#[derive(Graph)]` reads it from the struct; diagrams, checks and the frontier know a
//! graph only by it.

mod builder;
mod display;

pub use crate::isolation::Isolation;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The reserved name of the place where a run ends.
pub const EXIT: &str = "exit";

/// A graph's routing table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The graph's name: that of its struct.
    pub graph: String,
    /// The type that a run ends with, as its author spelled it.
    pub output: String,
    /// The nodes in the order of the struct's fields. Exactly one is the entry.
    pub nodes: Vec<NodeRow>,
}

/// One node of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NodeRow {
    /// The field's name.
    pub name: String,
    /// What sort of node it is.
    pub kind: NodeKind,
    /// Whether a run starts here.
    #[serde(default, skip_serializing_if = "is_false")]
    pub entry: bool,
    /// The type of its input, as spelled in the table; for an event node, the type of the message. A join has
    /// [`slots`](Self::slots) instead, and an observer takes the outcomes that it observes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// A join's slots, in order; empty for every other kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
    /// The prompt's type (LLM nodes, and other nodes with an agent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The type of the agent's structured output (LLM nodes, and other nodes with an agent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The alternatives of which a handler takes exactly one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goto: Vec<Goto>,
    /// The fork, whose branches a handler takes all at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Fork>,
    /// The advisory nodes that a handler may start beside the graph. They are never among a run's tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spawn: Vec<String>,
    /// Whether an event node may leave the run as it is, instead of redirecting it to one of its targets.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resume: bool,
    /// Whether a message is dropped that arrives while the run cannot use it (event nodes).
    #[serde(default, skip_serializing_if = "is_false")]
    pub transient: bool,
    /// The graph that runs once per item (map nodes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<String>,
    /// How many children may run at once (map nodes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// How deep child runs may nest: 1 where the children have no children themselves (map nodes, graph nodes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Whether a later entry adopts the children of earlier entries whose items have equal keys, instead of running
    /// these items again (map nodes).
    #[serde(default, skip_serializing_if = "is_false")]
    pub adopt: bool,
    /// The graph that runs once (graph nodes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// When the node stops waiting for the rest: how many of its children must succeed, or of its slots have a value
    /// (map nodes, joins).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<Quorum>,
    /// What is cleared when the quorum is reached: nodes, joins, `join.slot`, or `*` (joins with a quorum).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancels: Vec<String>,
    /// The map nodes to which the handler may add items while they run (event nodes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adds_to: Vec<String>,
    /// The type of what a person is asked (human nodes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The type of a person's answer (human nodes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The type of what the node reports at the exit (advisory nodes, observers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// The nodes whose outcomes the node sees (observers).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observes: Vec<String>,
    /// Where an entry beyond `visits` or `attempts` goes; without it the run fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<Goto>,
    /// How often the node may be entered in one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visits: Option<Visits>,
    /// How many attempts one visit may take: bounds the edge from the node to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// How long one execution may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Where an execution goes that exceeded its timeout; without it, `failed` applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<Goto>,
    /// Where an execution goes that failed; without it the run fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Goto>,
    /// Executions with the same name never overlap in the whole tree of runs. For a graph node, this holds for its
    /// child runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive: Option<String>,
    /// The role of the agent that does the node's work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model for the agent, where the agent that plays the role names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The name of the workspace in which the node works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Whether the node must leave its workspace unchanged.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_only: bool,
    /// How strictly the node's agent is kept from everything outside its workspace; absent means no requirement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// The nodes whose workspaces the node's agent must not be able to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_to: Vec<String>,
    /// The memory that the node reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRow>,
}

/// What sort of node a row describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// An agent does the work: prompt in, structured output back.
    Llm,
    /// Plain async Rust.
    Logic,
    /// Continues on all of its branches.
    Fork,
    /// Waits for one value in every slot.
    Join,
    /// Runs a child graph for each of a list of items.
    Map,
    /// Runs a child graph once.
    Graph,
    /// Waits for a person's answer.
    Human,
    /// Works beside the graph and reports at its exit.
    Advisory,
    /// Sees the events of other nodes and reports at the exit.
    Observer,
    /// Handles a message from outside.
    Event,
}

/// One slot of a join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The slot's name, unique in its join.
    pub name: String,
    /// The type it takes, as spelled in the table.
    #[serde(rename = "type")]
    pub ty: String,
    /// The nodes that may fill it.
    pub sources: Vec<String>,
    /// Whether the slot keeps its value for later rounds.
    #[serde(default, skip_serializing_if = "is_false")]
    pub latched: bool,
    /// Whether its source may send no value. That fills the slot and does not count for the quorum.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// One alternative: where it leads, and what it clears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goto {
    /// A node, `join.slot`, or [`EXIT`].
    pub to: Target,
    /// What is cleared before the target gets its token: nodes, joins, `join.slot`, or `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancels: Vec<String>,
    /// How often it may be taken in one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Where the run goes instead once the budget is spent; without it the run fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<Box<Self>>,
}

/// All branches of a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// One entry per branch; each names the targets among which that branch chooses.
    pub branches: Vec<Vec<Target>>,
    /// What is cleared before the branches start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancels: Vec<String>,
}

/// Where an edge leads: a node, a join's slot, or the exit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Target {
    /// The node, or [`EXIT`].
    pub node: String,
    /// The slot, where the node is a join and the slot is spelled out.
    pub slot: Option<String>,
}

/// A bound on a node's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visits {
    /// At most this many.
    AtMost(u32),
    /// No bound, as the author declared explicitly.
    Unbounded,
}

/// When a node stops waiting for the rest of its children or slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    /// As soon as this many of its children have succeeded, or of its slots have a value.
    AtLeast(u32),
    /// When its handler says so.
    Enough,
}

/// A node's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRow {
    /// The group that shares it; the node's own name where it is private.
    pub group: String,
    /// Its type, as spelled in the table.
    #[serde(rename = "type")]
    pub ty: String,
}

impl Table {
    /// A table without nodes.
    pub fn new(graph: impl Into<String>, output: impl Into<String>) -> Self {
        Self { graph: graph.into(), output: output.into(), nodes: Vec::new() }
    }

    /// Appends a node.
    #[must_use]
    pub fn with(mut self, node: NodeRow) -> Self {
        self.nodes.push(node);
        self
    }

    /// The row of the node called `name`.
    pub fn node(&self, name: &str) -> Option<&NodeRow> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// The row of the node at which a run starts.
    pub fn entry(&self) -> Option<&NodeRow> {
        self.nodes.iter().find(|node| node.entry)
    }

    /// The slot of `join` that a token from `source` fills when its target names only the join.
    pub fn slot_of(&self, join: &str, source: &str) -> Option<&Slot> {
        self.node(join)?.slots.iter().find(|slot| slot.sources.iter().any(|name| name == source))
    }

    /// The names of the memory groups, each once, in the order of their first node.
    pub fn memory_groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for memory in self.nodes.iter().filter_map(|node| node.memory.as_ref()) {
            if !groups.contains(&memory.group.as_str()) {
                groups.push(&memory.group);
            }
        }
        groups
    }

    /// How many edges the table has: gotos, the targets of all fork branches, and the routes that the run takes without
    /// the handler.
    pub fn edge_count(&self) -> usize {
        self.nodes.iter().map(|node| node.targets().count()).sum()
    }
}

impl NodeRow {
    /// A row with a name and a kind, and nothing else yet.
    pub fn new(name: impl Into<String>, kind: NodeKind) -> Self {
        Self {
            name: name.into(),
            kind,
            entry: false,
            input: None,
            slots: Vec::new(),
            prompt: None,
            output: None,
            goto: Vec::new(),
            fork: None,
            spawn: Vec::new(),
            resume: false,
            transient: false,
            map: None,
            concurrency: None,
            depth: None,
            adopt: false,
            graph: None,
            quorum: None,
            cancels: Vec::new(),
            adds_to: Vec::new(),
            question: None,
            answer: None,
            report: None,
            observes: Vec::new(),
            exhausted: None,
            visits: None,
            attempts: None,
            timeout_ms: None,
            timed_out: None,
            failed: None,
            exclusive: None,
            agent: None,
            model: None,
            workspace: None,
            read_only: false,
            isolation: None,
            blind_to: Vec::new(),
            memory: None,
        }
    }

    /// Every target that the node may lead to, in table order: gotos, fork branches, and the routes that the run takes
    /// without the handler.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        let branches = self.fork.iter().flat_map(|fork| fork.branches.iter().flatten());
        self.goto.iter().map(|goto| &goto.to).chain(branches).chain(self.routes().map(|goto| &goto.to))
    }

    /// The routes that the run takes without the handler, in table order: for exhausted bounds, for a timeout, for a
    /// failure, and for the exhausted budgets of edges.
    pub fn routes(&self) -> impl Iterator<Item = &Goto> {
        let of_edges = self.goto.iter().filter_map(|goto| goto.exhausted.as_deref());
        self.exhausted.iter().chain(&self.timed_out).chain(&self.failed).chain(of_edges)
    }

    /// Whether its handler may leave the run's tokens as they are. Only an event node's may, if it can resume or add
    /// items to a map.
    pub fn may_stay(&self) -> bool {
        self.resume || !self.adds_to.is_empty()
    }

    /// Whether an agent plays a role in it: it is an `LLMNode`, or has a prompt.
    pub fn is_prompted(&self) -> bool {
        self.kind == NodeKind::Llm || self.prompt.is_some()
    }

    /// How long one execution may take.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }
}

/// Setters for tables that are made at run time: one call per attribute.
impl Goto {
    /// An alternative that leads to `to` and clears `cancels`.
    pub fn new(to: &str, cancels: &[&str]) -> Self {
        Self::of(to.into(), cancels.iter().map(|&name| name.into()).collect())
    }

    /// An alternative from its parsed parts.
    pub fn of(to: Target, cancels: Vec<String>) -> Self {
        Self { to, cancels, times: None, exhausted: None }
    }

    /// Sets the budget.
    #[must_use]
    pub fn times(mut self, limit: u32) -> Self {
        self.times = Some(limit);
        self
    }

    /// Sets the route for when the budget is exhausted.
    #[must_use]
    pub fn exhausted(mut self, route: Self) -> Self {
        self.exhausted = Some(Box::new(route));
        self
    }
}

impl Target {
    /// Whether this is the exit.
    pub fn is_exit(&self) -> bool {
        self.node == EXIT
    }
}

fn is_false(value: &bool) -> bool {
    !value
}
