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
//! A token arriving counts as an entry. It may be cancelled before its node starts, but the schedule on which the node did
//! start is always there too, and has the bit. Only what an event clears has certainly not started.

mod moves;

pub(crate) use moves::{Outcome, State};

use interlocking_core::bits::Bits;
use interlocking_core::net::{Alternative, AlternativeIndex, Net, NodeIndex, PlaceIndex};
use interlocking_core::table::{EXIT, NodeKind, Visits};

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
    marking_bits: usize,
    pub(crate) budget_bits: usize,
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
    pub(crate) budget: Option<Budget>,
    /// In the order of the table.
    pub(crate) firings: Vec<Firing>,
    /// Their positions, those that lead back last.
    pub(crate) back_last: Vec<usize>,
    /// Whether an event may leave the run as it is.
    resumes: bool,
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
    /// Whether nothing may happen before it: some region tells the targets apart, or one is the exit.
    at_once: bool,
}

/// One way on from a node: an alternative, with one of its targets chosen for each branch.
#[derive(Debug)]
pub(crate) struct Firing {
    /// Whether it is the route of an exhausted budget.
    pub(crate) exhausted: bool,
    /// The places that get a token, the exit excluded.
    pub(crate) produces: Vec<usize>,
    /// How many tokens go to exit.
    pub(crate) exits: usize,
    pub(crate) clears: Option<Clears>,
    /// Whether its result is one fixed marking, whatever else is live: set by the analysis of what can be marked together.
    pub(crate) total: bool,
}

/// What a region takes out of a state.
#[derive(Debug)]
pub(crate) struct Clears {
    pub(crate) places: Bits,
    marking: Bits,
    budgets: Bits,
}

/// With more combinations of its branches than this, a fork's branches choose later.
const WIDE_FORK: usize = 64;

/// The same where a branch may go to the exit, which comes last of all branches: choices cannot say that exactly.
const WIDE_FORK_TO_EXIT: usize = 4096;

impl<'n> Model<'n> {
    pub(crate) fn new(net: &'n Net, kept: Kept) -> Self {
        let choices = choices(net);
        let places = net.places().len() - 1 + choices.len();
        let unbounded = net.table().nodes.iter().any(|row| row.visits == Some(Visits::Unbounded));
        let mut model = Self {
            net,
            places,
            nodes: Vec::with_capacity(net.nodes().len() + choices.len()),
            choices,
            all_places: Bits::new(0),
            events: Vec::new(),
            unbounded,
            exact: kept == Kept::Exactly,
            latching: Vec::new(),
            marking_bits: places,
            budget_bits: 0,
        };
        for index in 0..net.nodes().len() {
            let node = model.node(index, kept != Kept::GoingOn);
            if node.role == Role::Event {
                model.events.push(index);
            }
            model.nodes.push(node);
        }
        let first_choice = net.places().len() - 1;
        for (at, choice) in model.choices.iter().enumerate() {
            let firing = |&target: &usize| {
                let exits = usize::from(target == EXIT_PLACE);
                let produces = if exits == 0 { vec![target] } else { Vec::new() };
                Firing { exhausted: false, produces, exits, clears: None, total: false }
            };
            let place = first_choice + at;
            model.nodes.push(Node {
                role: Role::Plain,
                places: place..place + 1,
                latched: Vec::new(),
                running: None,
                budget: None,
                firings: choice.targets.iter().map(firing).collect(),
                resumes: false,
                back_last: Vec::new(),
            });
        }
        let mut all_places = Bits::new(model.marking_bits);
        (0..places).for_each(|place| {
            all_places.insert(place);
        });
        model.all_places = all_places;
        for (index, row) in net.nodes().iter().enumerate() {
            let mut firings = Vec::new();
            for at in row.alternatives.clone() {
                if let Some(alternative) = net.alternative(at) {
                    model.list(at, alternative, row.exhausted == Some(at), &mut firings);
                }
            }
            model.nodes[index].firings = firings;
        }
        model.sort_firings();
        model
    }

    /// Sorts the ways on from each node: those that lead on towards the exit first, those that lead back last, which a
    /// depth-first search follows first. So it goes round a loop before it leaves it, and comes to what is behind with all
    /// that the loop adds to the budgets.
    fn sort_firings(&mut self) {
        let mut order: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut left = 0;
        let mut open = vec![(self.consumer(usize::from(self.net.entry())), false)];
        while let Some((index, is_left)) = open.pop() {
            if is_left {
                left += 1;
                order[index] = Some(left);
            } else if order[index].is_none() {
                order[index] = Some(0);
                open.push((index, true));
                let places = self.nodes[index].firings.iter().flat_map(|firing| &firing.produces);
                open.extend(places.map(|&place| (self.consumer(place), false)));
            }
        }
        let consumers: Vec<usize> = (0..self.places).map(|place| self.consumer(place)).collect();
        for node in &mut self.nodes {
            let firings = &node.firings;
            let mut back_last: Vec<usize> = (0..firings.len()).collect();
            back_last.sort_by_key(|&at| {
                firings[at].produces.iter().map(|&place| order[consumers[place]].unwrap_or_default()).max()
            });
            node.back_last = back_last;
        }
    }

    fn node(&mut self, index: usize, every_budget: bool) -> Node {
        let (row, node) = (&self.net.table().nodes[index], &self.net.nodes()[index]);
        let mut marking_bits = self.marking_bits;
        let mut next_marking_bit = || {
            marking_bits += 1;
            marking_bits - 1
        };
        let latched: Vec<Latched> = node
            .places()
            .filter(|&place| self.net.places()[place].latched)
            .map(|place| Latched { place, remembered: next_marking_bit(), next: next_marking_bit() })
            .collect();
        let running = (!latched.is_empty()).then(&mut next_marking_bit);
        self.marking_bits = marking_bits;
        self.latching.extend(running);
        let bounded = matches!(row.visits, Some(Visits::AtMost(_)));
        let ends = node.exhausted.and_then(|at| self.net.alternative(at)).is_none_or(|route| self.ends_all(route));
        let budget = ((bounded || row.attempts.is_some()) && (every_budget || !ends)).then(|| {
            self.budget_bits += 2;
            let (entered, tired) = (self.budget_bits - 2, self.budget_bits - 1);
            Budget { entered, tired, visits: bounded, attempts: row.attempts.is_some() }
        });
        let role = match row.kind {
            NodeKind::Join => Role::Join,
            NodeKind::Event => Role::Event,
            NodeKind::Advisory | NodeKind::Observer => Role::Aside,
            _ => Role::Plain,
        };
        Node {
            role,
            places: node.places(),
            latched,
            running,
            budget,
            firings: Vec::new(),
            back_last: Vec::new(),
            resumes: row.resume,
        }
    }

    /// Whether an alternative ends the run and clears everything.
    fn ends_all(&self, alternative: &Alternative) -> bool {
        let to_exit = alternative.branches.iter().flatten().all(|&place| place == self.net.exit());
        to_exit && alternative.cancels.as_ref().is_some_and(|region| region.everything)
    }

    /// Adds the firings of an alternative.
    fn list(&self, at: AlternativeIndex, alternative: &Alternative, exhausted: bool, into: &mut Vec<Firing>) {
        // Each branch with the places among which it chooses now.
        let exit = usize::from(self.net.exit());
        let branches: Vec<Vec<usize>> = alternative
            .branches
            .iter()
            .enumerate()
            .map(|(nth, branch)| {
                let later = self.choices.iter().position(|choice| choice.alternative == at && choice.branch == nth);
                match later {
                    // The choices come after the places of the table, where that has its exit.
                    Some(choice) => vec![self.net.places().len() - 1 + choice],
                    None => branch
                        .iter()
                        .map(|&place| if usize::from(place) == exit { self.exit() } else { usize::from(place) })
                        .collect(),
                }
            })
            .collect();
        for combination in 0..branches.iter().map(Vec::len).product() {
            let mut rest = combination;
            let mut produces: Vec<usize> = Vec::with_capacity(branches.len());
            for branch in &branches {
                produces.push(branch[rest % branch.len()]);
                rest /= branch.len();
            }
            let all = produces.len();
            produces.retain(|&place| place != self.exit());
            let exits = all - produces.len();
            let clears = alternative.cancels.as_ref().map(|region| self.clears(region.places.iter()));
            let total = exits == 1 && produces.is_empty() && self.ends_all(alternative);
            into.push(Firing { exhausted, produces, exits, clears, total });
        }
    }

    fn clears(&self, cleared: impl Iterator<Item = usize>) -> Clears {
        let mut places = Bits::new(self.marking_bits);
        cleared.for_each(|place| {
            places.insert(place);
        });
        // A choice is cleared where its targets are; one that follows at once is never there.
        for (at, choice) in self.choices.iter().enumerate() {
            if choice.at_once || choice.targets.iter().all(|&target| places.contains(target)) {
                places.insert(self.net.places().len() - 1 + at);
            }
        }
        let (mut marking, mut budgets) = (places.clone(), Bits::new(self.budget_bits));
        for node in &self.nodes {
            if !node.places.clone().any(|place| places.contains(place)) {
                continue;
            }
            // A join that loses one slot no longer runs, and has the others still.
            marking_insert(&mut marking, node.running);
            for latched in &node.latched {
                marking.insert(latched.next);
                if places.contains(latched.place) {
                    marking.insert(latched.remembered);
                }
            }
            marking_insert(&mut budgets, node.budget.as_ref().map(|budget| budget.tired));
        }
        Clears { places, marking, budgets }
    }

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
    /// Whether nothing of what was live before is live after it.
    pub(crate) fn is_final(&self) -> bool {
        self.total || self.exits > 0
    }
}

/// The branches that choose later: those of forks with many combinations, from the first with a choice, in their order.
fn choices(net: &Net) -> Vec<Choice> {
    let mut choices = Vec::new();
    for (at, alternative) in net.alternatives().iter().enumerate() {
        let combinations = alternative.branches.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul);
        let leads_out = alternative.branches.iter().any(|branch| branch.contains(&net.exit()));
        if combinations.is_some_and(|count| count <= if leads_out { WIDE_FORK_TO_EXIT } else { WIDE_FORK }) {
            continue;
        }
        for (nth, branch) in alternative.branches.iter().enumerate().skip_while(|(_, branch)| branch.len() == 1) {
            let tells_apart = |other: &Alternative| {
                other.cancels.as_ref().is_some_and(|region| {
                    let cleared = branch.iter().filter(|&&place| region.places.contains(usize::from(place))).count();
                    cleared > 0 && cleared < branch.len()
                })
            };
            let target = |&place: &PlaceIndex| if place == net.exit() { EXIT_PLACE } else { usize::from(place) };
            choices.push(Choice {
                alternative: at as AlternativeIndex,
                branch: nth,
                fork: usize::from(alternative.source),
                targets: branch.iter().map(target).collect(),
                at_once: branch.contains(&net.exit()) || net.alternatives().iter().any(tells_apart),
            });
        }
    }
    choices
}

fn marking_insert(bits: &mut Bits, index: Option<usize>) {
    if let Some(index) = index {
        bits.insert(index);
    }
}
