//! A net as the search moves on it: markings as sets of bits, and what a node execution does to them.
//!
//! A marking says of each place whether it holds a token, queued and running counted alike. Two things need more than that:
//!
//! - **Joins with latched slots** start and complete in two steps, because a value that arrives in a latched slot while the
//!   join runs belongs to its next round, and to this one if it comes before. Bits say which slots remember a value, which
//!   joins run, and which marked latched slots hold the next round's value.
//! - **Budgets** are abstracted to "entered before": the first entry is never exhausted, a later one may be. That bit is
//!   kept only for nodes whose exhausted route goes somewhere else than to exit with everything cancelled, which no rule of
//!   tokens can be broken by. More such bits never mean less behaviour, so they stand apart from the marking.
//!
//! A fork with many branches that choose among targets would have a firing for each combination. There each branch has a
//! place of its own, a *choice*, whose token goes on to one of the targets later: with the same result, as long as no region
//! tells the targets apart, and none is the exit. Where that is not so, the choices follow the fork at once.
//!
//! An edge with a budget has one such bit, "taken before", kept where its exhausted route goes somewhere else in the same way. Only
//! the node itself sets it, and nothing takes it back.
//!
//! **Joins with a quorum** fire when a firing brings the value that they wait for: a bit says so. From then on they hold all of
//! their slots, and what they clear is gone. Bits say which slots were filled without a value. Where a fork has too many
//! combinations, the branches that fill slots of such a join choose one after the other, which is more than a run can do.
//!
//! What is left of a budget is told only where it can still matter: of a node that no token can come to any more, and of an edge that
//! none can choose, the bits are [forgotten](ahead). Where a budget's route leads where its node may go at any time, there are none.
//!
//! A token arriving counts as an entry. It may be cancelled before its node starts, but the schedule on which the node did
//! start is always there too, and has the bit. Only what an event clears has certainly not started; but a node that waits for a
//! person or for children may have, since messages are handled meanwhile.

mod ahead;
mod build;
mod moves;
mod quorum;

use ahead::Ahead;
pub(crate) use moves::{Outcome, State};
pub(crate) use quorum::Quorum;

use interlocking_core::bits::Bits;
use interlocking_core::net::{AlternativeIndex, Net, NodeIndex};
use interlocking_core::table::EXIT;

/// Stands for the exit among places.
const EXIT_PLACE: usize = usize::MAX;

pub(crate) struct Model<'n> {
    pub(crate) net: &'n Net,
    /// How many places there are without the exit, choices included; they are the first bits of a marking.
    pub(crate) places: usize,
    /// The nodes of the table, and one for each choice.
    pub(crate) nodes: Vec<Node>,
    /// Where branches of forks choose, in the order of their places.
    choices: Vec<Choice>,
    /// The places of all nodes, without the bits that stand behind them.
    pub(crate) all_places: Bits,
    /// The nodes that take messages.
    pub(crate) events: Vec<usize>,
    /// Whether some budget is unbounded: then a run may never end.
    pub(crate) unbounded: bool,
    /// Whether states are told apart exactly: more behaviour does not stand for less.
    pub(crate) exact: bool,
    /// Bits of joins that run.
    latching: Vec<usize>,
    /// The joins with a quorum.
    quorums: Vec<usize>,
    marking_bits: usize,
    pub(crate) budget_bits: usize,
    /// By alternative: the bit that says whether it was taken before, where it has a budget that is kept.
    taken_bits: Vec<Option<usize>>,
    /// Where which budgets can still matter; nowhere known where that is too much.
    ahead: Option<Ahead>,
}

/// Of which budgets a model keeps whether they may be exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Those whose exhaustion does not end the run: the others break no rule of tokens.
    GoingOn,
    /// All of them: some run may come to its exit by one.
    Every,
    /// All of them, and less behaviour can be what is wrong, so that states are told apart exactly.
    Exactly,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) role: Role,
    pub(crate) places: std::ops::Range<usize>,
    pub(crate) latched: Vec<Latched>,
    /// The bit that says that a join with latched slots runs.
    running: Option<usize>,
    pub(crate) quorum: Option<Quorum>,
    pub(crate) budget: Option<Budget>,
    /// In the order of the table.
    pub(crate) firings: Vec<Firing>,
    /// Their positions, those that lead back last.
    pub(crate) back_last: Vec<usize>,
    /// Whether an event may leave the run as it is.
    resumes: bool,
    /// Whether messages are handled while it runs: it waits for others then.
    waits: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Takes the token of its one place.
    Plain,
    /// Takes a token of each slot.
    Join,
    /// Takes no token.
    Event,
    /// Is never in the marking.
    Aside,
}

/// A latched slot and the bits behind it.
#[derive(Debug)]
pub(crate) struct Latched {
    pub(crate) place: usize,
    /// Whether it remembers a value.
    remembered: usize,
    /// Whether its token came while the join ran.
    next: usize,
}

/// The bits of a budget, and what bounds it.
#[derive(Debug)]
pub(crate) struct Budget {
    entered: usize,
    tired: usize,
    visits: bool,
    attempts: bool,
}

/// A branch of a fork that chooses later.
#[derive(Debug)]
struct Choice {
    alternative: AlternativeIndex,
    branch: usize,
    fork: usize,
    targets: Vec<usize>,
    /// By target, whether it is filled without a value.
    blank: Vec<bool>,
    /// Whether nothing may happen before it: some region tells the targets apart, or one is the exit.
    at_once: bool,
}

/// One way on from a node: an alternative, with one of its targets chosen for each branch.
#[derive(Debug)]
pub(crate) struct Firing {
    /// Whether it is the route of an exhausted budget, of its node or of an edge.
    pub(crate) exhausted: bool,
    /// The edge with a budget that it takes, or in whose place it is taken.
    pub(crate) edge: Option<Edge>,
    /// Whether it is the route of a failure, or of a timeout. Any execution may take it.
    pub(crate) failing: Option<Failing>,
    /// The places that get a token, the exit excluded.
    pub(crate) produces: Vec<usize>,
    /// Those of them that are slots of a join with a quorum, and get no value that counts for it.
    pub(crate) blank: Vec<usize>,
    /// How many tokens go to exit.
    pub(crate) exits: usize,
    pub(crate) clears: Option<Clears>,
    /// Whether its result is one fixed marking, whatever else is live: set by the analysis of what can be marked together.
    pub(crate) total: bool,
}

/// What a firing has to do with an edge that has a budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The bit that says whether the edge was taken before; none where that is not kept.
    taken: Option<usize>,
    /// Whether the firing is the edge itself, and not its route.
    pub(crate) is_taken: bool,
    /// Whether there is a route.
    has_route: bool,
}

/// Why an execution has no outcome of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    TimedOut,
    Failed,
}

/// What a region takes out of a state.
#[derive(Debug)]
pub(crate) struct Clears {
    pub(crate) places: Bits,
    marking: Bits,
    budgets: Bits,
}

impl<'n> Model<'n> {
    /// The empty set of places.
    pub(crate) fn no_places(&self) -> Bits {
        Bits::new(self.marking_bits)
    }

    /// The joins with latched slots that run.
    pub(crate) fn running<'s>(&'s self, state: &'s State) -> impl Iterator<Item = usize> + 's {
        let runs = |node: &Node| node.running.is_some_and(|bit| state.marking.contains(bit));
        (0..self.nodes.len()).filter(move |&index| runs(&self.nodes[index]))
    }

    pub(crate) fn is_event(&self, index: usize) -> bool {
        self.nodes[index].role == Role::Event
    }

    /// What stands for the exit among places: it is none that a token can lie in.
    pub(crate) fn exit(&self) -> usize {
        EXIT_PLACE
    }

    /// The node that takes a place's tokens.
    pub(crate) fn consumer(&self, place: usize) -> usize {
        match place.checked_sub(self.net.places().len() - 1) {
            Some(choice) => self.net.nodes().len() + choice,
            None => usize::from(self.net.places()[place].node),
        }
    }

    /// Whether the route of some edge's budget ends the run, which the model leaves out.
    pub(crate) fn has_final_edge_routes(&self) -> bool {
        let edges = self.net.alternatives().iter().zip(&self.taken_bits);
        edges
            .into_iter()
            .any(|(edge, taken)| taken.is_none() && edge.times.is_some_and(|times| times.exhausted.is_some()))
    }

    pub(crate) fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// The choice that a place is.
    fn choice(&self, place: usize) -> Option<&Choice> {
        self.choices.get(place.checked_sub(self.net.places().len() - 1)?)
    }

    /// The choice that is to be made before anything else happens; of `all` choices, or of those that follow at once.
    pub(crate) fn pending(&self, state: &State, all: bool) -> Option<usize> {
        let first = self.net.places().len() - 1;
        let is_pending =
            |(at, choice): &(usize, &Choice)| (all || choice.at_once) && state.marking.contains(first + at);
        let (at, _) = self.choices.iter().enumerate().find(is_pending)?;
        Some(self.net.nodes().len() + at)
    }

    /// The places that a firing fills, with those that its choices fill at once.
    pub(crate) fn fills<'m>(&'m self, firing: &'m Firing) -> impl Iterator<Item = usize> + 'm {
        firing.produces.iter().flat_map(|&place| {
            let choice = self.choice(place).filter(|choice| choice.at_once);
            let targets = choice.into_iter().flat_map(|choice| &choice.targets).copied();
            std::iter::once(place).chain(targets.filter(|&target| target != self.exit()))
        })
    }

    /// A place of the table: that of a choice is its first target.
    pub(crate) fn table_place(&self, place: usize) -> usize {
        self.choice(place).map_or(place, |choice| choice.targets[0])
    }

    /// The node of the table that does what a node of the model does.
    pub(crate) fn table_node(&self, index: usize) -> usize {
        index.checked_sub(self.net.nodes().len()).map_or(index, |choice| self.choices[choice].fork)
    }

    /// Whether a node is a branch's choice, and no node of the table.
    pub(crate) fn is_choice(&self, index: usize) -> bool {
        index >= self.net.nodes().len()
    }

    pub(crate) fn node_name(&self, index: usize) -> &str {
        self.net.name(self.table_node(index) as NodeIndex)
    }

    /// A place's name; that of a choice is its first target's.
    pub(crate) fn place_name(&self, place: usize) -> &str {
        match self.table_place(place) {
            place if place == self.exit() => EXIT,
            place => &self.net.places()[place].name,
        }
    }
}

impl Node {
    /// The places that must hold a token for it to fire.
    pub(crate) fn needs(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.clone().filter(|&place| !self.latched.iter().any(|slot| slot.place == place))
    }
}

impl Firing {
    /// The bit that it sets for good, if any.
    pub(crate) fn leaves_taken(&self) -> Option<usize> {
        self.edge.filter(|edge| edge.is_taken)?.taken
    }

    /// Whether nothing of what was live before is live after it.
    pub(crate) fn is_final(&self) -> bool {
        self.total || self.exits > 0
    }
}
