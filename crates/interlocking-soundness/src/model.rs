//! The model of a net for the search: markings as sets of bits, and the effect of a node execution on them.
//!
//! A marking has a bit for each place that holds a token, whether queued or consumed by a running execution. Several
//! things need more bits:
//!
//! - **Joins with latched slots** start and complete in two steps, because a value that arrives in a latched slot
//!   before the join starts belongs to this round, and one that arrives while the join runs belongs to the next. Bits
//!   record which slots remember a value, which joins run, and which marked latched slots hold the next round's value.
//! - **Budgets** are abstracted to "entered before": the first entry is never exhausted, a later entry may be. That bit
//!   is kept only for nodes whose exhausted route does more than go to exit with everything cancelled: a route that only
//!   does that cannot break a rule of tokens. More of these bits never mean less behaviour, so they are stored apart
//!   from the marking.
//!
//! A fork with many branches that choose among targets would have a firing for each combination. Instead, each branch
//! of such a fork gets its own place, a *choice*, whose token moves on to one of the targets later. The result is the
//! same as long as no region clears only some of the targets, and none of them is the exit. Otherwise the choices are
//! made immediately after the fork.
//!
//! An edge with a budget has one such bit, "taken before", kept under the same condition on its exhausted route. Only
//! the edge's own node sets it, and nothing clears it.
//!
//! **Joins with a quorum** fire when a firing brings the value that they wait for, which a bit records. From then on
//! they hold all of their slots, and their region is cleared. Bits record which slots were filled without a value.
//! Where a fork has too many combinations, the branches that fill slots of such a join choose one after the other,
//! which allows more behaviour than a real run has.
//!
//! Budget bits are kept only where they can still matter: the bits of a node that no token can reach any more, and of
//! an edge that no node can choose any more, are [dropped](ahead). A budget whose route does the same as another
//! alternative of its node has no bits.
//!
//! The arrival of a token counts as an entry. The token may be cancelled before its node starts, but a schedule on
//! which the node did start always exists too, and sets the bit. Only a node that an event clears has certainly not
//! started, unless it waits for a person or for children, since messages are handled while it waits.

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
    /// How many places there are, choices included and the exit excluded; they are the first bits of a marking.
    pub(crate) places: usize,
    /// The nodes of the table, and one for each choice.
    pub(crate) nodes: Vec<Node>,
    /// The late choices of fork branches, in the order of their places.
    choices: Vec<Choice>,
    /// The places of all nodes, without the additional bits of the marking.
    pub(crate) all_places: Bits,
    /// The nodes that take messages.
    pub(crate) events: Vec<usize>,
    /// Whether some node has `visits = unbounded`: then a run may never end.
    pub(crate) unbounded: bool,
    /// Whether states are compared exactly, so that a state with more behaviour does not cover one with less.
    pub(crate) exact: bool,
    /// The bits for running joins.
    latching: Vec<usize>,
    /// The joins with a quorum.
    quorums: Vec<usize>,
    marking_bits: usize,
    pub(crate) budget_bits: usize,
    /// By alternative: the bit for whether it was taken before, where its budget is kept.
    taken_bits: Vec<Option<usize>>,
    /// Which budgets can still matter for each node; `None` where there are no budgets or too many.
    ahead: Option<Ahead>,
}

/// For which budgets a model keeps whether they may be exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptBudgets {
    /// Budgets whose exhaustion does not end the run: the others cannot break a rule of tokens.
    NotFinal,
    /// All budgets: some run may reach its exit by an exhausted route.
    All,
    /// All budgets, and states are compared exactly, because a violation may come from less behaviour.
    AllExactly,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) role: Role,
    pub(crate) places: std::ops::Range<usize>,
    pub(crate) latched: Vec<Latched>,
    /// The bit for whether a join with latched slots runs.
    running: Option<usize>,
    pub(crate) quorum: Option<Quorum>,
    pub(crate) budget: Option<Budget>,
    /// In the order of the table.
    pub(crate) firings: Vec<Firing>,
    /// The positions of the firings, those that lead back last.
    pub(crate) back_last: Vec<usize>,
    /// Whether an event may leave the run as it is.
    resumes: bool,
    /// Whether messages are handled while it runs, because it then waits for a person or for children.
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
    /// Works beside the graph, and is never in the marking.
    Beside,
}

/// A latched slot and its bits.
#[derive(Debug)]
pub(crate) struct Latched {
    pub(crate) place: usize,
    /// The bit for whether it remembers a value.
    remembered: usize,
    /// The bit for whether its token arrived while the join ran.
    next: usize,
}

/// The bits of a budget, and what bounds it.
#[derive(Debug)]
pub(crate) struct Budget {
    entered: usize,
    exhaustible: usize,
    visits: bool,
    attempts: bool,
}

/// A branch of a fork that chooses its target later.
#[derive(Debug)]
struct Choice {
    alternative: AlternativeIndex,
    branch: usize,
    fork: usize,
    targets: Vec<usize>,
    /// By target, whether it is filled without a value.
    blank: Vec<bool>,
    /// Whether the choice is made immediately after the fork: some region clears only some of the targets, or a target
    /// is the exit.
    at_once: bool,
}

/// One possible step of a node: an alternative, with one of its targets chosen for each branch.
#[derive(Debug)]
pub(crate) struct Firing {
    /// Whether it is the route of an exhausted budget, of the node or of an edge.
    pub(crate) exhausted: bool,
    /// The edge with a budget that it takes, or that it replaces.
    pub(crate) edge: Option<Edge>,
    /// Whether it is the route of a failure, or of a timeout. Any execution may take it.
    pub(crate) failing: Option<Failing>,
    /// The places that get a token, the exit excluded.
    pub(crate) produces: Vec<usize>,
    /// The places among `produces` that are slots of a join with a quorum, and get no value that counts.
    pub(crate) blank: Vec<usize>,
    /// How many tokens go to exit.
    pub(crate) exits: usize,
    pub(crate) clears: Option<Clears>,
    /// Whether its result is one fixed marking, whatever else is live. The [`together`](crate::together) analysis sets
    /// this.
    pub(crate) total: bool,
}

/// The relation of a firing to an edge that has a budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The bit for whether the edge was taken before; `None` where that is not kept.
    taken: Option<usize>,
    /// Whether the firing takes the edge itself, and not the edge's exhausted route.
    pub(crate) is_taken: bool,
    /// Whether the edge has an exhausted route.
    has_route: bool,
}

/// Why an execution takes a route instead of a handler's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    TimedOut,
    Failed,
}

/// What a region removes from a state.
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

    /// The index that represents the exit. It is not a place of the marking.
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

    /// Whether the exhausted route of some edge ends the run; the model leaves such routes out.
    pub(crate) fn has_final_edge_routes(&self) -> bool {
        let edges = self.net.alternatives().iter().zip(&self.taken_bits);
        edges
            .into_iter()
            .any(|(edge, taken)| taken.is_none() && edge.times.is_some_and(|times| times.exhausted.is_some()))
    }

    pub(crate) fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// The choice of a place, if the place is a choice's.
    fn choice(&self, place: usize) -> Option<&Choice> {
        self.choices.get(place.checked_sub(self.net.places().len() - 1)?)
    }

    /// The choice to be made before anything else happens: of `all` choices, or only of those made immediately after
    /// their fork.
    pub(crate) fn pending(&self, state: &State, all: bool) -> Option<usize> {
        let first = self.net.places().len() - 1;
        let is_pending =
            |(at, choice): &(usize, &Choice)| (all || choice.at_once) && state.marking.contains(first + at);
        let (at, _) = self.choices.iter().enumerate().find(is_pending)?;
        Some(self.net.nodes().len() + at)
    }

    /// The places that a firing fills, and those that its immediate choices fill.
    pub(crate) fn fills<'m>(&'m self, firing: &'m Firing) -> impl Iterator<Item = usize> + 'm {
        firing.produces.iter().flat_map(|&place| {
            let choice = self.choice(place).filter(|choice| choice.at_once);
            let targets = choice.into_iter().flat_map(|choice| &choice.targets).copied();
            std::iter::once(place).chain(targets.filter(|&target| target != self.exit()))
        })
    }

    /// The place in the table; for a choice, its first target.
    pub(crate) fn table_place(&self, place: usize) -> usize {
        self.choice(place).map_or(place, |choice| choice.targets[0])
    }

    /// The node in the table; for a choice, the node of its fork.
    pub(crate) fn table_node(&self, index: usize) -> usize {
        index.checked_sub(self.net.nodes().len()).map_or(index, |choice| self.choices[choice].fork)
    }

    /// Whether a node is a branch's choice, and not a node of the table.
    pub(crate) fn is_choice(&self, index: usize) -> bool {
        index >= self.net.nodes().len()
    }

    pub(crate) fn node_name(&self, index: usize) -> &str {
        self.net.name(self.table_node(index) as NodeIndex)
    }

    /// The name of a place; for a choice, the name of its first target.
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
    /// The "taken before" bit that it sets, if any.
    pub(crate) fn leaves_taken(&self) -> Option<usize> {
        self.edge.filter(|edge| edge.is_taken)?.taken
    }

    /// Whether no token that was live before is live after it.
    pub(crate) fn is_final(&self) -> bool {
        self.total || self.exits > 0
    }
}
