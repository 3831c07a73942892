//! Builds the model of a net.

use super::{
    Ahead, Budget, Choice, Clears, EXIT_PLACE, Edge, Failing, Firing, KeptBudgets, Latched, Model, Node, Quorum, Role,
    quorum,
};
use interlocking_core::bits::Bits;
use interlocking_core::net::{Alternative, AlternativeIndex, Net, NetNode, Region};
use interlocking_core::table::{NodeKind, Visits};
use std::ops::Range;

/// If a fork has more combinations of its branches than this, its branches choose later.
const WIDE_FORK: usize = 64;

/// The same limit where a branch may go to the exit. The exit is taken last of all branches, which late choices cannot
/// represent exactly.
const WIDE_FORK_TO_EXIT: usize = 4096;

impl<'n> Model<'n> {
    pub(crate) fn new(net: &'n Net, kept: KeptBudgets) -> Self {
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
            exact: kept == KeptBudgets::AllExactly,
            latching: Vec::new(),
            quorums: Vec::new(),
            marking_bits: places,
            budget_bits: 0,
            taken_bits: Vec::new(),
            ahead: None,
        };
        for index in 0..net.nodes().len() {
            let node = model.node(index, kept != KeptBudgets::NotFinal);
            if node.role == Role::Event {
                model.events.push(index);
            }
            model.nodes.push(node);
        }
        model.keep_budgeted_edges(kept != KeptBudgets::NotFinal);
        let first_choice = net.places().len() - 1;
        for (at, choice) in model.choices.iter().enumerate() {
            let firing = |(&target, &is_blank): (&usize, &bool)| {
                let exits = usize::from(target == EXIT_PLACE);
                let produces = if exits == 0 { vec![target] } else { Vec::new() };
                let blank = if is_blank { produces.clone() } else { Vec::new() };
                Firing {
                    exhausted: false,
                    edge: None,
                    failing: None,
                    produces,
                    blank,
                    exits,
                    clears: None,
                    total: false,
                }
            };
            let place = first_choice + at;
            model.nodes.push(Node {
                role: Role::Plain,
                places: place..place + 1,
                latched: Vec::new(),
                running: None,
                budget: None,
                quorum: None,
                firings: choice.targets.iter().zip(&choice.blank).map(firing).collect(),
                resumes: false,
                waits: false,
                back_last: Vec::new(),
            });
        }
        let mut all_places = Bits::new(model.marking_bits);
        (0..places).for_each(|place| {
            all_places.insert(place);
        });
        model.all_places = all_places;
        model.clear_at_quorums();
        for (index, row) in net.nodes().iter().enumerate() {
            let mut firings = Vec::new();
            for at in row.alternatives.clone() {
                if let Some(alternative) = net.alternative(at) {
                    model.list(at, alternative, row, &mut firings);
                }
            }
            model.nodes[index].firings = firings;
        }
        model.sort_firings();
        model.ahead = Ahead::of(&model);
        model
    }

    /// Sorts the firings of each node: those that lead towards the exit first, those that lead back last, which a
    /// depth-first search follows first. So the search goes round a loop before it leaves the loop, and reaches the
    /// nodes behind the loop with all budget bits that the loop sets.
    fn sort_firings(&mut self) {
        let mut order = vec![0; self.nodes.len()];
        self.post_order().into_iter().enumerate().for_each(|(at, index)| order[index] = at);
        let consumers: Vec<usize> = (0..self.places).map(|place| self.consumer(place)).collect();
        for node in &mut self.nodes {
            let firings = &node.firings;
            let mut back_last: Vec<usize> = (0..firings.len()).collect();
            back_last.sort_by_key(|&at| firings[at].produces.iter().map(|&place| order[consumers[place]]).max());
            node.back_last = back_last;
        }
    }

    /// All nodes in post-order: each after the nodes that it leads to, except for back edges.
    pub(super) fn post_order(&self) -> Vec<usize> {
        let mut is_seen = vec![false; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let entry = self.consumer(usize::from(self.net.entry()));
        let mut open: Vec<(usize, bool)> =
            (0..self.nodes.len()).rev().chain([entry]).map(|root| (root, false)).collect();
        while let Some((index, is_left)) = open.pop() {
            if is_left {
                order.push(index);
            } else if !std::mem::replace(&mut is_seen[index], true) {
                open.push((index, true));
                let places = self.nodes[index].firings.iter().flat_map(|firing| &firing.produces);
                open.extend(places.map(|&place| (self.consumer(place), false)));
            }
        }
        order
    }

    /// Assigns a bit to each edge with a budget whose exhaustion matters.
    fn keep_budgeted_edges(&mut self, every_budget: bool) {
        for alternative in self.net.alternatives() {
            let kept = alternative.times.filter(|times| {
                let source = self.net.node(alternative.source);
                let route = times.exhausted.and_then(|at| self.net.alternative(at));
                self.route_matters(source, route, every_budget)
            });
            self.taken_bits.push(kept.map(|_| self.budget_bits));
            self.budget_bits += usize::from(kept.is_some());
        }
    }

    /// The relation of an alternative to an edge that has a budget.
    fn edge(&self, at: AlternativeIndex, alternative: &Alternative) -> Option<Edge> {
        let (edge, is_taken) = match alternative.instead_of {
            Some(edge) => (edge, false),
            None => (at, true),
        };
        let times = self.net.alternative(edge)?.times?;
        let taken = self.taken_bits.get(usize::from(edge)).copied().flatten();
        Some(Edge { taken, is_taken, has_route: times.exhausted.is_some() })
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
        let quorum = node.quorum.as_ref().map(|quorum| {
            let blank = node.places().map(|_| next_marking_bit()).collect();
            Quorum::of(quorum, next_marking_bit(), blank)
        });
        if quorum.is_some() {
            self.quorums.push(index);
        }
        self.marking_bits = marking_bits;
        self.latching.extend(running);
        let bounded = matches!(row.visits, Some(Visits::AtMost(_)));
        let route = node.exhausted.and_then(|at| self.net.alternative(at));
        let budget =
            ((bounded || row.attempts.is_some()) && self.route_matters(node, route, every_budget)).then(|| {
                self.budget_bits += 2;
                let (entered, exhaustible) = (self.budget_bits - 2, self.budget_bits - 1);
                Budget { entered, exhaustible, visits: bounded, attempts: row.attempts.is_some() }
            });
        let role = match row.kind {
            NodeKind::Join => Role::Join,
            NodeKind::Event => Role::Event,
            NodeKind::Advisory | NodeKind::Observer => Role::Beside,
            _ => Role::Plain,
        };
        Node {
            role,
            places: node.places(),
            latched,
            running,
            quorum,
            budget,
            firings: Vec::new(),
            back_last: Vec::new(),
            resumes: row.may_stay(),
            waits: matches!(row.kind, NodeKind::Map | NodeKind::Graph | NodeKind::Human) && row.exclusive.is_none(),
        }
    }

    /// Whether a budget's route can do anything that the other alternatives of its node cannot. It cannot where an
    /// unbudgeted alternative has the same targets and region. Without `every_budget`, a route that only ends the run
    /// does not count.
    fn route_matters(&self, node: &NetNode, route: Option<&Alternative>, every_budget: bool) -> bool {
        let Some(route) = route else { return every_budget };
        let is_same = |at: AlternativeIndex| {
            let is_route = [node.exhausted, node.timed_out, node.failed].contains(&Some(at));
            let way =
                self.net.alternative(at).filter(|way| !is_route && way.times.is_none() && way.instead_of.is_none());
            way.is_some_and(|way| {
                let region = |way: &Alternative| way.cancels.as_ref().map(|region| region.places.clone());
                way.branches == route.branches && region(way) == region(route)
            })
        };
        !node.alternatives.clone().any(is_same) && (every_budget || !self.ends_all(route))
    }

    /// Whether an alternative ends the run and clears everything.
    fn ends_all(&self, alternative: &Alternative) -> bool {
        let to_exit = alternative.branches.iter().flatten().all(|&place| place == self.net.exit());
        to_exit && alternative.cancels.as_ref().is_some_and(|region| region.everything)
    }

    /// Adds the firings of an alternative.
    fn list(&self, at: AlternativeIndex, alternative: &Alternative, row: &NetNode, into: &mut Vec<Firing>) {
        let exhausted = row.exhausted == Some(at);
        let failing = [(row.timed_out, Failing::TimedOut), (row.failed, Failing::Failed)];
        let failing = failing.into_iter().find(|(route, _)| *route == Some(at)).map(|(_, failing)| failing);
        // Each branch with the places among which it chooses immediately.
        let is_route = exhausted || failing.is_some() || alternative.instead_of.is_some();
        let branches: Vec<Vec<(usize, bool)>> = alternative
            .branches
            .iter()
            .enumerate()
            .map(|(nth, branch)| {
                let later = self.choices.iter().position(|choice| choice.alternative == at && choice.branch == nth);
                match later {
                    // The places of choices follow those of the table, starting at the index of the table's exit.
                    Some(choice) => vec![(self.net.places().len() - 1 + choice, false)],
                    None => quorum::options(self.net, branch, is_route),
                }
            })
            .collect();
        for combination in 0..branches.iter().map(Vec::len).product() {
            let mut rest = combination;
            let (mut produces, mut blank): (Vec<usize>, Vec<usize>) = Default::default();
            for branch in &branches {
                let (place, is_blank) = branch[rest % branch.len()];
                produces.push(place);
                blank.extend(is_blank.then_some(place));
                rest /= branch.len();
            }
            let all = produces.len();
            produces.retain(|&place| place != self.exit());
            let exits = all - produces.len();
            let clears = alternative.cancels.as_ref().map(|region| self.clears(region.places.iter()));
            let total = exits == 1 && produces.is_empty() && self.ends_all(alternative);
            let edge = self.edge(at, alternative);
            let exhausted = exhausted || edge.is_some_and(|edge| !edge.is_taken);
            into.push(Firing { exhausted, edge, failing, produces, blank, exits, clears, total });
        }
    }

    pub(super) fn clears(&self, cleared: impl Iterator<Item = usize>) -> Clears {
        let mut places = Bits::new(self.marking_bits);
        cleared.for_each(|place| {
            places.insert(place);
        });
        // A choice is cleared if all its targets are. An immediate choice is never marked when a region is cleared.
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
            // A join that loses one slot no longer runs, and keeps the values of the others.
            marking_insert(&mut marking, node.running);
            node.quorum.iter().flat_map(Quorum::bits).for_each(|bit| marking_insert(&mut marking, Some(bit)));
            for latched in &node.latched {
                marking.insert(latched.next);
                if places.contains(latched.place) {
                    marking.insert(latched.remembered);
                }
            }
            marking_insert(&mut budgets, node.budget.as_ref().map(|budget| budget.exhaustible));
        }
        Clears { places, marking, budgets }
    }
}

/// The branches that choose later: those of forks with many combinations, in order, starting at the first branch with a
/// choice.
fn choices(net: &Net) -> Vec<Choice> {
    let mut choices = Vec::new();
    for (at, alternative) in net.alternatives().iter().enumerate() {
        let options: Vec<_> = alternative.branches.iter().map(|branch| quorum::options(net, branch, false)).collect();
        let combinations = options.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul);
        let leads_out = alternative.branches.iter().any(|branch| branch.contains(&net.exit()));
        if combinations.is_some_and(|count| count <= if leads_out { WIDE_FORK_TO_EXIT } else { WIDE_FORK }) {
            continue;
        }
        for (nth, options) in options.into_iter().enumerate().skip_while(|(_, options)| options.len() == 1) {
            let branch = &alternative.branches[nth];
            let tells_apart = |region: &Region, join: Range<usize>| {
                let is_cleared = |place: usize| region.places.contains(place) || join.contains(&place);
                let cleared = branch.iter().filter(|&&place| is_cleared(place.into())).count();
                cleared > 0 && cleared < branch.len()
            };
            let alternatives = net.alternatives().iter().filter_map(|other| other.cancels.as_ref());
            let is_told_apart = alternatives.into_iter().any(|region| tells_apart(region, 0..0))
                || quorum::joins(net).any(|(join, quorum)| tells_apart(&quorum.clears, join.places()));
            choices.push(Choice {
                alternative: at as AlternativeIndex,
                branch: nth,
                fork: usize::from(alternative.source),
                at_once: branch.contains(&net.exit()) || is_told_apart || quorum::may_count(net, &options),
                targets: options.iter().map(|(target, _)| *target).collect(),
                blank: options.iter().map(|(_, is_blank)| *is_blank).collect(),
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
