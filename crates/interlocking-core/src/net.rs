//! A table compiled to what a run moves on: places, alternatives and regions, all by index.
//!
//! A *place* is where a token can lie: one for the input of each node, one for each slot of a join, and one for the
//! exit. Each has exactly one consumer, so a token's place says which node runs next.

mod compile;
mod error;
mod loops;
mod lookup;
mod names;
mod quorum;
mod rules;

pub use self::error::NetError;
pub(crate) use self::lookup::Shortcut;
use self::lookup::{Consumer, Intake};
use crate::bits::Bits;
use crate::failure::FailureKind;
use crate::table::{NodeRow, Table};
use std::time::Duration;

/// The index of a node in its table.
pub type NodeIndex = u16;
/// The index of a place in its net.
pub type PlaceIndex = u16;
/// The index of an alternative in its net.
pub type AlternativeIndex = u16;

/// A compiled [`Table`].
#[derive(Debug)]
pub struct Net {
    table: Table,
    nodes: Vec<NetNode>,
    places: Vec<NetPlace>,
    alternatives: Vec<Alternative>,
    /// By alternative.
    shortcuts: Vec<Shortcut>,
    /// By alternative: its source and its place, if it is plain.
    plain: Vec<Option<(NodeIndex, PlaceIndex)>>,
    /// By place.
    consumers: Vec<Consumer>,
    /// By node.
    intakes: Vec<Intake>,
    /// The joins with a quorum, in table order.
    quorum_joins: Vec<NodeIndex>,
    memory_groups: Vec<String>,
    entry: PlaceIndex,
    features: Features,
}

/// Compiled tables, each once: those of a graph and of all that its nodes run, [gathered](crate::graph::Graph::nets).
#[derive(Debug, Default)]
pub struct Nets {
    nets: Vec<&'static Net>,
    children: Vec<ChildNet>,
}

/// Which net a node runs.
#[derive(Debug)]
struct ChildNet {
    parent: &'static Net,
    node: NodeIndex,
    child: &'static Net,
}

/// What some node of a net has: asked at the start of every run.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// A prompt.
    pub prompts: bool,
    /// Child runs.
    pub maps: bool,
    /// A node that it observes.
    pub observes: bool,
    /// A report for the exit.
    pub reports: bool,
    /// A workspace.
    pub workspaces: bool,
    /// Executions that never overlap with others.
    pub exclusive: bool,
    /// A workspace, or such executions.
    pub guarded: bool,
    /// A workspace that its agent must be kept in.
    pub isolation: bool,
    /// A timeout.
    pub timeouts: bool,
    /// How many places there are up to the last whose value is [kept](NetPlace::kept).
    pub kept: usize,
    /// How many edges have a [budget](Alternative::times).
    pub budgeted_edges: usize,
}

/// What a run needs to know of a node.
#[derive(Debug)]
pub struct NetNode {
    /// The first of its places.
    pub first_place: PlaceIndex,
    /// How many places it has: one, or one a slot.
    pub place_count: u16,
    /// Whether it waits for its slots.
    pub is_join: bool,
    /// When it need not wait for all of its slots (joins).
    pub quorum: Option<JoinQuorum>,
    /// How often it may be entered; `u32::MAX` where nothing bounds it.
    pub visits: u32,
    /// How many attempts a visit may take, where its edge to itself is bounded by them.
    pub attempts: Option<u32>,
    /// How long one execution may take.
    pub timeout: Option<Duration>,
    /// Whether it works in a workspace.
    pub works: bool,
    /// Whether it must leave that as it found it.
    pub read_only: bool,
    /// Whether it works in a workspace, or its executions never overlap with others.
    pub guarded: bool,
    /// The alternative that an entry beyond the bounds takes.
    pub exhausted: Option<AlternativeIndex>,
    /// The alternative that an execution takes which took longer than its timeout.
    pub timed_out: Option<AlternativeIndex>,
    /// The alternative that an execution takes which failed, or took too long where there is no other for that.
    pub failed: Option<AlternativeIndex>,
    /// The index of its memory group in [`Net::memory_groups`].
    pub memory: Option<u16>,
    /// Its alternatives: gotos in table order, then the fork, then the routes: exhausted, timed out, failed, and those of its edges'
    /// budgets.
    pub alternatives: std::ops::Range<AlternativeIndex>,
}

/// One place.
#[derive(Debug)]
pub struct NetPlace {
    /// The node that consumes the token.
    pub node: NodeIndex,
    /// Its name: `node`, `join.slot`, or `exit`.
    pub name: String,
    /// Whether its value is kept for later rounds.
    pub latched: bool,
    /// Whether nothing may come in place of a value: a slot of a join with a quorum.
    pub optional: bool,
    /// Whether the frontier must be able to copy its token: it is latched, or some alternative or quorum clears another
    /// slot of its join and leaves this one, which then has its value back even if the join was running.
    pub kept: bool,
}

/// One way on from a node.
#[derive(Debug)]
pub struct Alternative {
    /// The node that may take it.
    pub source: NodeIndex,
    /// One entry a token that it makes; each lists the places among which the token's sender chooses.
    pub branches: Vec<Vec<PlaceIndex>>,
    /// The place of each branch, in one list, where no branch chooses; otherwise empty.
    pub only: Vec<PlaceIndex>,
    /// What it clears first.
    pub cancels: Option<Region>,
    /// Whether it leads to one place, which is no slot of a join with a quorum, cancels nothing, has no budget and stays in the
    /// graph: the common case, taken quickly.
    pub plain: bool,
    /// How often it may be taken in a run, where that is bounded: `times = n` on an edge.
    pub times: Option<Times>,
    /// The edge in whose place it is taken, where it is the route of an edge's exhausted budget.
    pub instead_of: Option<AlternativeIndex>,
}

/// The budget of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// How often the edge may be taken in one run.
    pub limit: u32,
    /// The alternative that is taken instead from then on; without one the run fails.
    pub exhausted: Option<AlternativeIndex>,
    /// Which of the net's budgeted edges it is, counted from 0.
    pub(crate) counter: u16,
}

/// When a join need not wait for all of its slots, and what becomes of the rest then.
#[derive(Debug)]
pub struct JoinQuorum {
    /// So many slots with a value are enough.
    pub values: u16,
    /// What the join clears when it fires; nothing of itself.
    pub clears: Region,
}

/// What an alternative, or a join that has its quorum, clears.
#[derive(Clone, Debug)]
pub struct Region {
    /// The places that lose their tokens.
    pub places: Bits,
    /// The nodes whose executions are discarded.
    pub nodes: Bits,
    /// Whether everything is cleared: `*`.
    pub everything: bool,
}

impl Nets {
    /// Adds one; `false` if it is there already.
    pub fn add(&mut self, net: &'static Net) -> bool {
        let is_new = !self.nets.iter().any(|known| std::ptr::eq(*known, net));
        if is_new {
            self.nets.push(net);
        }
        is_new
    }

    /// Says that a node of `parent`, a map or graph node, runs `child`. That is [added](Self::add) by itself.
    pub fn add_child(&mut self, parent: &'static Net, node: NodeIndex, child: &'static Net) {
        self.children.push(ChildNet { parent, node, child });
    }

    /// In the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static Net> + '_ {
        self.nets.iter().copied()
    }

    /// What a node of `parent` runs; `None` where it runs nothing, or nobody has [said](Self::add_child) what.
    pub fn child(&self, parent: &'static Net, node: NodeIndex) -> Option<&'static Net> {
        let found = self.children.iter().find(|it| std::ptr::eq(it.parent, parent) && it.node == node);
        found.map(|it| it.child)
    }
}

impl Net {
    /// What some node has.
    #[doc(hidden)]
    #[inline]
    pub fn features(&self) -> Features {
        self.features
    }

    /// The table that this was compiled from.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The nodes in table order.
    pub fn nodes(&self) -> &[NetNode] {
        &self.nodes
    }

    /// The node at `index`.
    #[inline]
    pub fn node(&self, index: NodeIndex) -> &NetNode {
        &self.nodes[usize::from(index)]
    }

    /// The name of the node at `index`.
    pub fn name(&self, index: NodeIndex) -> &str {
        &self.table.nodes[usize::from(index)].name
    }

    /// The row of the node at `index`.
    pub fn row(&self, index: NodeIndex) -> &NodeRow {
        &self.table.nodes[usize::from(index)]
    }

    /// The places; the exit is the last.
    pub fn places(&self) -> &[NetPlace] {
        &self.places
    }

    /// The place at `index`.
    #[inline]
    pub fn place(&self, index: PlaceIndex) -> &NetPlace {
        &self.places[usize::from(index)]
    }

    /// The place called `name`: `node`, `join.slot`, or `exit`.
    pub fn place_named(&self, name: &str) -> Option<PlaceIndex> {
        self.places.iter().position(|place| place.name == name).and_then(|index| index.try_into().ok())
    }

    /// The node called `name`.
    pub fn node_named(&self, name: &str) -> Option<NodeIndex> {
        self.table.nodes.iter().position(|row| row.name == name).and_then(|index| index.try_into().ok())
    }

    /// The place that a run ends in.
    #[inline]
    pub fn exit(&self) -> PlaceIndex {
        (self.places.len() - 1) as PlaceIndex
    }

    /// The place that a run starts in.
    pub fn entry(&self) -> PlaceIndex {
        self.entry
    }

    /// All alternatives, node by node.
    pub fn alternatives(&self) -> &[Alternative] {
        &self.alternatives
    }

    /// The alternative at `index`.
    #[inline]
    pub fn alternative(&self, index: AlternativeIndex) -> Option<&Alternative> {
        self.alternatives.get(usize::from(index))
    }

    /// The joins with a quorum, in table order.
    #[inline]
    pub fn quorum_joins(&self) -> &[NodeIndex] {
        &self.quorum_joins
    }

    /// The shortcuts, by alternative.
    pub(crate) fn shortcuts(&self) -> &[Shortcut] {
        &self.shortcuts
    }

    /// What a token in `place` must know.
    #[inline]
    pub(crate) fn consumer(&self, place: usize) -> Consumer {
        self.consumers[place]
    }

    /// What `node` must know when it takes its input.
    #[inline]
    pub(crate) fn intake(&self, node: NodeIndex) -> Intake {
        self.intakes[usize::from(node)]
    }

    /// Whether `alternative` is `source`'s plain way to `place`: the common case of a legal step, seen at one look.
    #[inline]
    pub(crate) fn is_plain(&self, alternative: AlternativeIndex, source: NodeIndex, place: PlaceIndex) -> bool {
        self.plain.get(usize::from(alternative)) == Some(&Some((source, place)))
    }

    /// The names of the memory groups, by index.
    pub fn memory_groups(&self) -> &[String] {
        &self.memory_groups
    }
}

impl NetNode {
    /// The alternative that an execution takes which failed so; `None` where its run fails.
    pub fn route_of(&self, kind: &FailureKind) -> Option<AlternativeIndex> {
        match kind {
            FailureKind::Timeout { .. } => self.timed_out.or(self.failed),
            kind if kind.may_be_routed() => self.failed,
            _ => None,
        }
    }

    /// The node's places.
    pub fn places(&self) -> std::ops::Range<usize> {
        let first = usize::from(self.first_place);
        first..first + usize::from(self.place_count)
    }
}
