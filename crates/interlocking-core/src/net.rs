//! A table compiled to what a run moves on: places, alternatives and regions, all by index.
//!
//! A *place* is where a token can lie: one for the input of each node, one for each slot of a join, and one for the
//! exit. Each has exactly one consumer, so a token's place says which node runs next.

mod names;
mod rules;

use crate::bits::Bits;
use crate::table::{NodeKind, NodeRow, Table, Visits};
use names::Names;
use std::fmt;
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
    memory_groups: Vec<String>,
    entry: PlaceIndex,
    features: Features,
}

/// Compiled tables, each once: those of a graph and of all that its map nodes run, [gathered](crate::graph::Graph::nets).
#[derive(Debug, Default)]
pub struct Nets(Vec<&'static Net>);

/// What some node of a net has: asked at the start of every run.
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
    /// A workspace that its agent must be kept in.
    pub isolation: bool,
    /// A timeout.
    pub timeouts: bool,
    /// How many places there are up to the last whose value is [kept](NetPlace::kept).
    pub kept: usize,
}

/// What a plain alternative comes to, in as few bytes as possible: a chain of nodes reads nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortcut {
    /// The node that takes it; that of no node where there is no shortcut.
    pub(crate) source: NodeIndex,
    pub(crate) place: PlaceIndex,
    /// A [`NodeIndex`], as wide as what it indexes with.
    pub(crate) target: u32,
    /// How many visits the target may have; none, where the alternative is an edge of a node to itself which `attempts`
    /// bounds.
    pub(crate) visits: u32,
    /// How many attempts there may be, where it is; none, where it is not.
    pub(crate) attempts: u32,
}

/// What a token that arrives in a place must know, in as few bytes as possible: a fork of a thousand branches looks at
/// two of these a branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumer {
    /// As in [`NetPlace`].
    pub(crate) node: NodeIndex,
    pub(crate) latched: bool,
    pub(crate) kept: bool,
}

/// What a node that takes its input must know, as small for the same reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intake {
    /// As in [`NetNode`].
    pub(crate) visits: u32,
    /// As in [`NetNode`]; `u32::MAX` where nothing bounds them.
    pub(crate) attempts: u32,
    pub(crate) first_place: PlaceIndex,
    pub(crate) place_count: u16,
    pub(crate) is_join: bool,
    /// Whether its edge to itself is bounded by attempts.
    pub(crate) tries: bool,
}

/// What a run needs to know of a node.
#[derive(Debug)]
pub struct NetNode {
    /// The first of its places.
    pub first_place: PlaceIndex,
    /// How many places it has: one, or one a slot.
    pub place_count: u16,
    /// Whether it fires only when every slot has a value.
    pub is_join: bool,
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
    /// The alternative that an entry beyond the bounds takes.
    pub exhausted: Option<AlternativeIndex>,
    /// The index of its memory group in [`Net::memory_groups`].
    pub memory: Option<u16>,
    /// Its alternatives: gotos in table order, then the fork, then the exhausted route.
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
    /// Whether the frontier must be able to copy its token: it is latched, or some alternative clears another slot of
    /// its join and leaves this one, which then has its value back even if the join was running.
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
    pub(crate) only: Vec<PlaceIndex>,
    /// What it clears first.
    pub cancels: Option<Region>,
    /// Whether it leads to one place, cancels nothing and stays in the graph: the common case, taken quickly.
    pub plain: bool,
}

/// What an alternative clears.
#[derive(Clone, Debug)]
pub struct Region {
    /// The places that lose their tokens.
    pub places: Bits,
    /// The nodes whose executions are discarded.
    pub nodes: Bits,
    /// Whether everything is cleared: `*`.
    pub everything: bool,
}

/// Why a table is not a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetError {
    /// No node, or more than one, is the entry.
    Entry {
        /// The nodes that claim to be.
        found: Vec<String>,
    },
    /// Two nodes, or two slots of one join, have one name.
    Duplicate {
        /// The name.
        name: String,
    },
    /// A name stands for nothing.
    Unknown {
        /// The node whose row has it.
        node: String,
        /// The name.
        name: String,
    },
    /// A target is a join, and none of its slots names the source.
    NoSlot {
        /// The source.
        node: String,
        /// The join.
        join: String,
    },
    /// A join has no slots, or another kind of node has some.
    Slots {
        /// The node.
        node: String,
    },
    /// A node's row says what its kind cannot do.
    Unfit {
        /// The node.
        node: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// More places or alternatives than an index can hold.
    TooLarge {
        /// How many.
        count: usize,
    },
}

impl Nets {
    /// Adds one; `false` if it is there already.
    pub fn add(&mut self, net: &'static Net) -> bool {
        let is_new = !self.0.iter().any(|known| std::ptr::eq(*known, net));
        if is_new {
            self.0.push(net);
        }
        is_new
    }

    /// In the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static Net> + '_ {
        self.0.iter().copied()
    }
}

impl Net {
    /// Compiles `table`.
    ///
    /// # Errors
    ///
    /// [`NetError`] where a name in the table stands for nothing, stands for two things, or there is not exactly one
    /// entry, where slots and joins do not go together, or a row says what its kind cannot do. A table that
    /// `#[derive(Graph)]` wrote has none of these.
    pub fn new(table: Table) -> Result<Self, NetError> {
        let mut names = Names::of(&table)?;
        rules::kinds(&names)?;
        let memory_groups: Vec<String> = table.memory_groups().into_iter().map(str::to_owned).collect();
        let mut alternatives = Vec::new();
        let mut nodes = Vec::with_capacity(table.nodes.len());
        for (index, row) in table.nodes.iter().enumerate() {
            let source = narrow(index)?;
            let start = narrow(alternatives.len())?;
            for goto in &row.goto {
                alternatives.push(names.alternative(row, source, goto)?);
            }
            if let Some(fork) = &row.fork {
                let branches = fork.branches.iter().map(|targets| {
                    targets.iter().map(|target| names.place(row, target)).collect::<Result<Vec<_>, _>>()
                });
                let branches = branches.collect::<Result<Vec<_>, _>>()?;
                let cancels = names.region(row, &fork.cancels)?;
                let only = only(&branches);
                alternatives.push(Alternative { source, branches, only, cancels, plain: false });
            }
            let mut exhausted = None;
            if let Some(goto) = &row.exhausted {
                exhausted = Some(narrow(alternatives.len())?);
                alternatives.push(names.alternative(row, source, goto)?);
            }
            let memory = row.memory.as_ref().and_then(|memory| memory_groups.iter().position(|g| *g == memory.group));
            nodes.push(NetNode {
                first_place: names.first[index],
                place_count: narrow(row.slots.len().max(1))?,
                is_join: row.kind == NodeKind::Join,
                visits: match row.visits {
                    Some(Visits::AtMost(limit)) => limit,
                    Some(Visits::Unbounded) | None => u32::MAX,
                },
                attempts: row.attempts,
                timeout: row.timeout(),
                works: row.workspace.is_some(),
                read_only: row.read_only,
                exhausted,
                memory: memory.map(narrow).transpose()?,
                alternatives: start..narrow(alternatives.len())?,
            });
        }
        let regions: Vec<_> = alternatives.iter().filter_map(|found: &Alternative| found.cancels.as_ref()).collect();
        for row in nodes.iter().filter(|row: &&NetNode| row.is_join) {
            let partly = |region: &&Region| row.places().any(|p| region.places.contains(p));
            for place in row.places() {
                names.places[place].kept |= regions.iter().copied().filter(partly).any(|r| !r.places.contains(place));
            }
        }
        let shortcuts =
            alternatives.iter().map(|alternative| Shortcut::of(alternative, &nodes, &names.places)).collect();
        let plain = alternatives.iter().map(|alternative| {
            let place = alternative.branches.first().and_then(|branch| branch.first());
            place.filter(|_| alternative.plain).map(|&place| (alternative.source, place))
        });
        let plain = plain.collect();
        let consumers = names.places.iter().map(Consumer::of).collect();
        let intakes = nodes.iter().map(Intake::of).collect();
        let entry = names.first[table.nodes.iter().position(|row| row.entry).unwrap_or_default()];
        let Names { places, .. } = names;
        let any = |has: fn(&NodeRow) -> bool| table.nodes.iter().any(has);
        let features = Features {
            prompts: any(NodeRow::is_prompted),
            maps: any(|row| row.kind == NodeKind::Map),
            observes: any(|row| row.kind == NodeKind::Observer),
            reports: any(|row| row.report.is_some()),
            workspaces: any(|row| row.workspace.is_some()),
            isolation: any(|row| row.isolation.is_some()),
            timeouts: any(|row| row.timeout().is_some()),
            kept: places.iter().rposition(|place| place.kept).map_or(0, |last| last + 1),
        };
        Ok(Self {
            nodes,
            places,
            alternatives,
            shortcuts,
            plain,
            consumers,
            intakes,
            memory_groups,
            entry,
            features,
            table,
        })
    }

    /// What some node has.
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

impl Shortcut {
    /// Joins have none, neither to nor from: what they take and leave is more than one token.
    fn of(alternative: &Alternative, nodes: &[NetNode], places: &[NetPlace]) -> Self {
        let place = alternative.branches.first().and_then(|branch| branch.first()).copied().unwrap_or_default();
        let target = places[usize::from(place)].node;
        let node = nodes.get(usize::from(target)).filter(|node| alternative.plain && !node.is_join);
        match node.filter(|_| !nodes[usize::from(alternative.source)].is_join) {
            None => Self { source: NodeIndex::MAX, place, target: target.into(), visits: 0, attempts: 0 },
            Some(node) => {
                let attempts = node.attempts.filter(|_| target == alternative.source);
                let visits = if attempts.is_some() { 0 } else { node.visits };
                let (source, attempts) = (alternative.source, attempts.unwrap_or_default());
                Self { source, place, target: target.into(), visits, attempts }
            }
        }
    }
}

impl Consumer {
    fn of(place: &NetPlace) -> Self {
        Self { node: place.node, latched: place.latched, kept: place.kept }
    }
}

impl Intake {
    fn of(node: &NetNode) -> Self {
        Self {
            visits: node.visits,
            attempts: node.attempts.unwrap_or(u32::MAX),
            first_place: node.first_place,
            place_count: node.place_count,
            is_join: node.is_join,
            tries: node.attempts.is_some(),
        }
    }

    /// The node's places.
    #[inline]
    pub(crate) fn places(&self) -> std::ops::Range<usize> {
        let first = usize::from(self.first_place);
        first..first + usize::from(self.place_count)
    }
}

impl NetNode {
    /// The node's places.
    pub fn places(&self) -> std::ops::Range<usize> {
        let first = usize::from(self.first_place);
        first..first + usize::from(self.place_count)
    }
}

/// The place of each branch, if none chooses.
fn only(branches: &[Vec<PlaceIndex>]) -> Vec<PlaceIndex> {
    let only = |branch: &Vec<PlaceIndex>| if let [place] = branch[..] { Some(place) } else { None };
    branches.iter().map(only).collect::<Option<_>>().unwrap_or_default()
}

fn narrow(index: usize) -> Result<u16, NetError> {
    u16::try_from(index).map_err(|_| NetError::TooLarge { count: index })
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { found } if found.is_empty() => f.write_str("no node is the entry: mark one"),
            Self::Entry { found } => write!(f, "{} nodes are the entry ({}): keep one", found.len(), found.join(", ")),
            Self::Duplicate { name } => write!(f, "`{name}` stands for two things: rename one"),
            Self::Unknown { node, name } => {
                write!(f, "node `{node}` names `{name}`, which is not in the table")
            }
            Self::NoSlot { node, join } => {
                write!(f, "node `{node}` goes to join `{join}`, none of whose slots names it as a source")
            }
            Self::Slots { node } => {
                write!(f, "node `{node}`: a join has at least one slot, and no other node has any")
            }
            Self::Unfit { node, reason } => write!(f, "node `{node}`: {reason}"),
            Self::TooLarge { count } => write!(f, "{count} places or alternatives: at most 65,535 fit one table"),
        }
    }
}

impl std::error::Error for NetError {}
