//! A table compiled for runs: places, alternatives and regions, all by index.
//!
//! A *place* is where a token can lie: one for the input of each node, one for each slot of a join, and one for the
//! exit. Each place has exactly one consumer, so a token's place determines which node runs next.

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

/// The compiled tables of a graph and of all graphs that its nodes run, each once, as
/// [`Graph::nets`](crate::graph::Graph::nets) collects them.
#[derive(Debug, Default)]
pub struct Nets {
    nets: Vec<&'static Net>,
    children: Vec<ChildNet>,
}

/// The net of the child graph that a node runs.
#[derive(Debug)]
struct ChildNet {
    parent: &'static Net,
    node: NodeIndex,
    child: &'static Net,
}

/// The features that at least one node of a net uses. They are read at the start of every run.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// A prompt.
    pub prompts: bool,
    /// Child runs.
    pub maps: bool,
    /// An observer.
    pub observes: bool,
    /// A report for the exit, from an advisory node or an observer.
    pub reports: bool,
    /// A workspace.
    pub workspaces: bool,
    /// Executions that never overlap with others.
    pub exclusive: bool,
    /// A workspace, or exclusive executions.
    pub guarded: bool,
    /// A declared isolation of its agent.
    pub isolation: bool,
    /// A timeout.
    pub timeouts: bool,
    /// How many places there are up to the last whose value is [kept](NetPlace::kept).
    pub kept: usize,
    /// How many edges have a [budget](Alternative::times).
    pub budgeted_edges: usize,
}

impl Features {
    /// Whether a run that is not recorded may be one chain of nodes: no node asks an agent, runs child graphs or observes.
    pub fn may_be_chain(&self) -> bool {
        !(self.prompts || self.maps || self.observes)
    }
}

/// The data of a node that a run needs.
#[derive(Debug)]
#[non_exhaustive]
pub struct NetNode {
    /// The first of its places.
    pub first_place: PlaceIndex,
    /// How many places it has: one, or one per slot.
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
    /// Whether it must leave the workspace unchanged.
    pub read_only: bool,
    /// Whether it works in a workspace, or its executions never overlap with others.
    pub guarded: bool,
    /// The alternative that an entry beyond the bounds takes.
    pub exhausted: Option<AlternativeIndex>,
    /// The alternative that an execution takes that exceeded its timeout.
    pub timed_out: Option<AlternativeIndex>,
    /// The alternative that an execution takes that failed, or that exceeded its timeout and has no alternative for
    /// timeouts.
    pub failed: Option<AlternativeIndex>,
    /// The index of its memory group in [`Net::memory_groups`].
    pub memory: Option<u16>,
    /// Its alternatives: gotos in table order, then the fork, then the routes: exhausted, timed out, failed, and the
    /// exhausted routes of its edges.
    pub alternatives: std::ops::Range<AlternativeIndex>,
}

/// One place.
#[derive(Debug)]
#[non_exhaustive]
pub struct NetPlace {
    /// The node that consumes the token.
    pub node: NodeIndex,
    /// Its name: `node`, `join.slot`, or `exit`.
    pub name: String,
    /// Whether its value is kept for later rounds.
    pub latched: bool,
    /// Whether its token may carry no value. Only a slot of a join with a quorum can be optional.
    pub optional: bool,
    /// Whether the frontier must be able to copy its token: the place is latched, or some alternative or quorum clears
    /// another slot of its join and leaves this one. The slot then gets its value back even if the join was running.
    pub kept: bool,
}

/// One alternative of a node: an edge, a fork or a route.
#[derive(Debug)]
#[non_exhaustive]
pub struct Alternative {
    /// The node that may take it.
    pub source: NodeIndex,
    /// One entry per token that it makes; each lists the places among which the sender chooses.
    pub branches: Vec<Vec<PlaceIndex>>,
    /// The place of each branch, in one list, where no branch chooses; otherwise empty.
    pub only: Vec<PlaceIndex>,
    /// The region that it clears first.
    pub cancels: Option<Region>,
    /// Whether it leads to one place, which is neither a slot of a join with a quorum nor the exit, cancels nothing,
    /// has no budget and does not replace a spent edge. This common case has a fast path.
    pub plain: bool,
    /// The budget of the edge, where it has one: `times = n`.
    pub times: Option<Times>,
    /// The edge that it replaces, where it is the exhausted route of an edge.
    pub instead_of: Option<AlternativeIndex>,
}

/// The budget of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// How often the edge may be taken in one run.
    pub limit: u32,
    /// The alternative that is taken instead from then on; without one the run fails.
    pub exhausted: Option<AlternativeIndex>,
    /// The index among the net's budgeted edges.
    pub(crate) counter: u16,
}

/// When a join fires without waiting for all of its slots, and what it then clears.
#[derive(Debug)]
#[non_exhaustive]
pub struct JoinQuorum {
    /// How many slots with a value are enough.
    pub values: u16,
    /// The region that the join clears when it fires, without the join's own slots.
    pub clears: Region,
}

/// The region that an alternative clears, or a join when it reaches its quorum.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Region {
    /// The places that lose their tokens.
    #[doc(hidden)]
    pub places: Bits,
    /// The nodes whose executions are discarded.
    #[doc(hidden)]
    pub nodes: Bits,
    /// Whether everything is cleared: `*`.
    pub everything: bool,
}

impl Nets {
    /// Adds a net; `false` if it is there already.
    pub fn add(&mut self, net: &'static Net) -> bool {
        let is_new = !self.nets.iter().any(|known| std::ptr::eq(*known, net));
        if is_new {
            self.nets.push(net);
        }
        is_new
    }

    /// Records that a node of `parent`, a map or graph node, runs `child`. The caller [adds](Self::add) the net of
    /// `child` separately.
    pub fn add_child(&mut self, parent: &'static Net, node: NodeIndex, child: &'static Net) {
        self.children.push(ChildNet { parent, node, child });
    }

    /// The nets, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static Net> + '_ {
        self.nets.iter().copied()
    }

    /// The net that a node of `parent` runs; `None` where none was [recorded](Self::add_child).
    pub fn child(&self, parent: &'static Net, node: NodeIndex) -> Option<&'static Net> {
        let found = self.children.iter().find(|it| std::ptr::eq(it.parent, parent) && it.node == node);
        found.map(|it| it.child)
    }
}

impl Net {
    /// The features that at least one node uses.
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

    /// The place where a run ends.
    #[inline]
    pub fn exit(&self) -> PlaceIndex {
        (self.places.len() - 1) as PlaceIndex
    }

    /// The place where a run starts.
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

    /// The data that a token arriving in `place` needs.
    #[inline]
    pub(crate) fn consumer(&self, place: usize) -> Consumer {
        self.consumers[place]
    }

    /// The data that `node` needs when it takes its input.
    #[inline]
    pub(crate) fn intake(&self, node: NodeIndex) -> Intake {
        self.intakes[usize::from(node)]
    }

    /// Whether `alternative` is `source`'s plain alternative to `place`: one lookup recognises the common case of a
    /// legal step.
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
    /// The alternative that an execution takes after a failure of this kind; `None` where the run fails.
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
