//! The search through the markings that a run can reach.
//!
//! The search is breadth first, by node executions: the path to a state is a shortest one among those that the search
//! tries. It is depth first where only stubborn sets are tried. A set must then not lead back to a state on the search
//! stack, because the nodes that it leaves out could otherwise be left out for ever.
//!
//! A state whose marking was seen with the same budget bits or more is not visited again, as it has no new behaviour.
//!
//! A run ends where a rule of tokens is broken: the search does not consider messages after that.

use crate::effort::{Effort, words};
use crate::goal::Goal;
use crate::known::Known;
use crate::late;
use crate::model::{Firing, Model, Outcome, Role, State};
use crate::stubborn::Dependencies;
use interlocking_core::bits::Bits;
use std::collections::VecDeque;

/// Which of the enabled nodes a search tries.
#[derive(Clone, Copy)]
pub(crate) enum Order<'g> {
    /// All of them.
    Everything,
    /// The nodes of one stubborn set: enough to decide whether a rule is broken.
    Stubborn,
    /// The nodes of a stubborn set around the nodes that the goal needs: enough to find a shortest path to the goal.
    Towards(&'g Goal),
}

/// A broken rule as the search finds it, with indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Broken {
    DoubleToken {
        from: usize,
        place: usize,
    },
    LiveAtExit {
        from: usize,
    },
    /// The joins that wait.
    Stuck {
        joins: Vec<usize>,
    },
    /// Two nodes that run at once. Only a search with this goal reports it.
    Beside {
        nodes: [usize; 2],
    },
}

/// Where a rule is broken.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) broken: Broken,
    /// The state that breaks the rule, or in which the last firing breaks it.
    pub(crate) state: u32,
    pub(crate) last: Option<Taken>,
    /// The tokens that are live where the run would have ended.
    pub(crate) live: Option<Bits>,
    /// Where branches chose late: the executions in the order of a run, and the rule that the search itself found
    /// broken.
    pub(crate) way: Option<Vec<Taken>>,
    pub(crate) met: Option<Broken>,
    /// Whether a run can take that path.
    pub(crate) is_taken: bool,
}

impl Found {
    /// A rule broken by the state itself, without a last firing.
    pub(crate) fn at(broken: &Broken, state: u32) -> Self {
        Self { broken: broken.clone(), state, last: None, live: None, way: None, met: None, is_taken: true }
    }
}

/// A firing, by node and position in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) node: u32,
    pub(crate) firing: u32,
}

struct Seen {
    state: State,
    from: u32,
    /// `None` where a join started or a message was ignored. That is no execution, and a branch's choice is none either.
    taken: Option<Taken>,
    depth: u32,
    expanded: bool,
    /// Whether it is on the stack of a depth-first search.
    open: bool,
}

/// What is still to do.
enum Turn {
    Enter(u32),
    Leave(u32),
}

pub(crate) struct Search<'m, 'n> {
    model: &'m Model<'n>,
    dependencies: &'m Dependencies,
    effort: &'m Effort,
    seen: Vec<Seen>,
    known: Known,
    depth_first: bool,
    choices_are_late: bool,
    /// After how many states the search stops, once a rule is broken.
    enough: Option<usize>,
    turns: VecDeque<Turn>,
    pub(crate) found: Vec<Found>,
    /// Nodes whose handler some run starts.
    pub(crate) ran: Vec<bool>,
    pub(crate) reached_exit: bool,
    /// The edges between states, and the states in which a run can end: kept where a run may never end. Unless states
    /// are compared exactly, steps of exhausted budgets are left out.
    edges: Vec<(u32, u32)>,
    ends: Vec<u32>,
    pub(crate) complete: bool,
}

impl<'m, 'n> Search<'m, 'n> {
    pub(crate) fn run(
        model: &'m Model<'n>,
        dependencies: &'m Dependencies,
        effort: &'m Effort,
        order: Order<'_>,
        limit: usize,
    ) -> Self {
        let mut search = Self {
            model,
            dependencies,
            effort,
            seen: Vec::new(),
            known: Known::default(),
            depth_first: matches!(order, Order::Stubborn),
            choices_are_late: model.has_choices() && !matches!(order, Order::Everything),
            enough: None,
            turns: VecDeque::new(),
            found: Vec::new(),
            ran: vec![false; model.nodes.len()],
            reached_exit: false,
            edges: Vec::new(),
            ends: Vec::new(),
            complete: false,
        };
        search.see(model.start(), 0, None, 0);
        search.complete = search.look(order, limit);
        // If some finding's path can be taken by a run, findings with other paths are dropped.
        if search.found.iter().any(|found| found.is_taken) {
            search.found.retain(|found| found.is_taken);
        }
        search
    }

    /// Visits the states. Returns whether the search was complete, or has reached its goal.
    fn look(&mut self, order: Order<'_>, limit: usize) -> bool {
        while let Some(turn) = self.turns.pop_front() {
            let at = match turn {
                Turn::Enter(at) => at,
                Turn::Leave(at) => {
                    self.seen[at as usize].open = false;
                    continue;
                }
            };
            // Once a rule is broken, the reductions are weaker and further findings matter little, so the depth-first
            // search stops soon.
            let enough = if self.depth_first { self.enough.unwrap_or(limit) } else { limit };
            if self.seen.len() > limit.min(enough) || self.effort.is_spent() {
                return false;
            }
            if std::mem::replace(&mut self.seen[at as usize].expanded, true) {
                continue;
            }
            if self.depth_first {
                self.seen[at as usize].open = true;
                self.turns.push_front(Turn::Leave(at));
            }
            self.expand(at, order);
            if let Order::Towards(goal) = order
                && self.found.iter().any(|found| goal.is(&found.broken))
            {
                break;
            }
        }
        true
    }

    /// How many states were seen.
    pub(crate) fn states(&self) -> usize {
        self.seen.len()
    }

    pub(crate) fn state(&self, index: u32) -> &State {
        &self.seen[index as usize].state
    }

    /// The nearest state in which all these nodes can run and no choice is pending.
    pub(crate) fn nearest(&self, nodes: &[usize]) -> Option<u32> {
        let runs = |seen: &&(usize, &Seen)| {
            let state = &seen.1.state;
            self.model.pending(state, true).is_none() && nodes.iter().all(|&node| self.model.is_enabled(node, state))
        };
        let all = self.seen.iter().enumerate();
        all.filter(|seen| runs(&seen)).min_by_key(|(_, seen)| seen.depth).map(|(at, _)| at as u32)
    }

    /// The executions that lead to a state.
    pub(crate) fn path(&self, to: u32) -> Vec<Taken> {
        let (mut path, mut at) = (Vec::new(), to);
        while at != 0 {
            path.extend(self.seen[at as usize].taken);
            at = self.seen[at as usize].from;
        }
        path.reverse();
        path
    }

    /// The states from which no run ends.
    pub(crate) fn without_end(&self) -> Vec<u32> {
        let mut back: Vec<Vec<u32>> = vec![Vec::new(); self.seen.len()];
        for &(from, to) in &self.edges {
            back[to as usize].push(from);
        }
        let mut can_end = vec![false; self.seen.len()];
        let mut open = self.ends.clone();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut can_end[at as usize], true) {
                open.extend(&back[at as usize]);
            }
        }
        (0..self.seen.len() as u32).filter(|&at| !can_end[at as usize]).collect()
    }

    fn expand(&mut self, at: u32, order: Order<'_>) {
        let (model, effort) = (self.model, self.effort);
        let state = self.seen[at as usize].state.clone();
        effort.touch(model.events.len() + 4 * words(model.places));
        if let Some(choice) = model.pending(&state, matches!(order, Order::Everything)) {
            return self.try_all(at, &state, &[choice]);
        }
        let enabled = model.enabled(&state);
        if let Order::Towards(goal) = order
            && let Some(reached) = goal.reached(&enabled)
        {
            return self.report(reached.clone(), at, None, None);
        }
        if enabled.iter().all(|&index| model.is_event(index)) {
            return self.stuck(at, &state);
        }
        if model.exact && model.may_fail(&enabled, &state) {
            self.ends.push(at);
        }
        match order {
            Order::Everything => self.try_all(at, &state, &enabled),
            _ if enabled.len() < 2 => self.try_all(at, &state, &enabled),
            Order::Towards(goal) => {
                let needs = goal.needs(model, &enabled);
                let chosen = self.dependencies.around(model, &state, &enabled, effort, needs);
                self.try_all(at, &state, &chosen);
            }
            Order::Stubborn => {
                let goes_on = |chosen: &[usize]| self.goes_on(&state, chosen);
                let chosen = self.dependencies.choose(model, &state, &enabled, effort, goes_on);
                self.try_all(at, &state, chosen.as_deref().unwrap_or(&enabled));
            }
        }
    }

    /// Whether a firing of one of these nodes that is not final leads to a state that is not on the search stack.
    fn goes_on(&self, state: &State, chosen: &[usize]) -> bool {
        chosen.iter().any(|&index| {
            // No message is handled while a join with latched slots runs, so its start and its end are one step here.
            let started = self.model.started(index, state);
            started.as_ref().is_none_or(|started| self.is_fresh(started))
                && self.fires_afresh(index, started.as_ref().unwrap_or(state))
        })
    }

    fn fires_afresh(&self, index: usize, state: &State) -> bool {
        let firings = self.model.nodes[index].firings.iter();
        let mut firings = firings.filter(|firing| !firing.is_final() && self.model.may_fire(index, firing, state));
        firings.any(|firing| match self.model.fire(index, firing, state) {
            // A fork and its immediate choices are one step.
            Outcome::State(next) => match self.model.pending(&next, false) {
                Some(choice) => self.fires_afresh(choice, &next),
                None => self.is_fresh(&next),
            },
            _ => false,
        })
    }

    fn is_fresh(&self, next: &State) -> bool {
        self.effort.touch(words(self.model.places));
        self.known(next, |_| true).is_none_or(|known| !self.seen[known as usize].open)
    }

    fn try_all(&mut self, at: u32, state: &State, nodes: &[usize]) {
        let depth = self.seen[at as usize].depth;
        for &index in nodes {
            if let Some(started) = self.model.started(index, state) {
                self.see(started, at, None, depth);
                continue;
            }
            if let Some(resumed) = self.model.resumed(index, state) {
                self.see(resumed, at, None, depth);
            }
            let node = &self.model.nodes[index];
            for nth in 0..node.firings.len() {
                let firing = if self.depth_first { node.back_last[nth] } else { nth };
                let way = &node.firings[firing];
                if self.model.may_fire(index, way, state) {
                    let taken = Taken { node: index as u32, firing: firing as u32 };
                    self.fire(at, state, taken, way);
                }
            }
        }
    }

    fn fire(&mut self, at: u32, state: &State, taken: Taken, firing: &Firing) {
        let index = taken.node as usize;
        self.ran[index] |= !firing.exhausted;
        let from = self.model.table_node(index);
        let (broken, live) = match self.model.fire(index, firing, state) {
            Outcome::State(next) => {
                let depth = self.seen[at as usize].depth + u32::from(!self.model.is_choice(index));
                return self.see(next, at, Some(taken), depth);
            }
            Outcome::End { at_exit } => {
                self.reached_exit |= at_exit;
                if self.model.exact || !firing.exhausted {
                    self.ends.push(at);
                }
                return;
            }
            Outcome::DoubleToken { place } => {
                (Broken::DoubleToken { from, place: self.model.table_place(place) }, None)
            }
            Outcome::LiveAtExit { live } => {
                self.reached_exit = true;
                (Broken::LiveAtExit { from }, Some(live))
            }
        };
        self.report(broken, at, Some(taken), live);
    }

    fn stuck(&mut self, at: u32, state: &State) {
        let waits = |index: &usize| {
            let node = &self.model.nodes[*index];
            node.role == Role::Join && node.places.clone().any(|place| state.marking.contains(place))
        };
        let joins = (0..self.model.nodes.len()).filter(waits).collect();
        self.report(Broken::Stuck { joins }, at, None, None);
    }

    /// Records a broken rule. Only the first finding of each rule is kept, which has a shortest path.
    fn report(&mut self, broken: Broken, state: u32, last: Option<Taken>, live: Option<Bits>) {
        let is_known = |found: &Found, broken: &Broken| found.broken == *broken || found.met.as_ref() == Some(broken);
        if self.depth_first && self.found.iter().any(|found| is_known(found, &broken)) {
            return;
        }
        let mut found = Found { broken, state, last, live, way: None, met: None, is_taken: true };
        if self.choices_are_late {
            let mut path = self.path(state);
            path.extend(last);
            if path.iter().any(|taken| self.model.is_choice(taken.node as usize)) {
                let (broken, way) = late::in_order(self.model, found.broken.clone(), &path);
                found.met = Some(std::mem::replace(&mut found.broken, broken));
                found.is_taken = late::is_taken(self.model, &found.broken, &way);
                found.way = Some(way);
            }
        }
        if !self.found.iter().any(|known| known.broken == found.broken) {
            self.found.push(found);
            self.enough.get_or_insert(self.seen.len() * 2 + 200);
        }
    }

    /// A seen state that has all behaviour of this state.
    fn known(&self, state: &State, suffices: impl Fn(&Seen) -> bool) -> Option<u32> {
        let is_enough = |at: &u32| suffices(&self.seen[*at as usize]);
        self.known.same(state).or_else(|| self.known.covers(self.model, state).find(is_enough))
    }

    fn see(&mut self, state: State, from: u32, taken: Option<Taken>, depth: u32) {
        // A join's start does not count as a step, so a shorter path to a waiting state may be found later. A
        // depth-first search ignores path lengths.
        let known = self.known(&state, |known| self.depth_first || known.depth <= depth);
        if self.model.unbounded && !self.seen.is_empty() && (self.model.exact || !self.is_exhausted(taken)) {
            self.edges.push((from, known.unwrap_or(self.seen.len() as u32)));
        }
        if let Some(at) = known {
            let known = &mut self.seen[at as usize];
            let is_shorter = !self.depth_first && depth < known.depth;
            if is_shorter {
                (known.from, known.taken, known.depth) = (from, taken, depth);
            }
            if !known.expanded && (self.depth_first || is_shorter) {
                self.turns.push_front(Turn::Enter(at));
            }
            return;
        }
        let at = self.seen.len() as u32;
        self.effort.keep(2 * words(self.model.places) + words(self.model.budget_bits) + 8);
        self.known.insert(self.model, &state, at, self.depth_first);
        let is_execution = taken.is_some_and(|taken| !self.model.is_choice(taken.node as usize));
        self.seen.push(Seen { state, from, taken, depth, expanded: false, open: false });
        if is_execution && !self.depth_first {
            self.turns.push_back(Turn::Enter(at));
        } else {
            self.turns.push_front(Turn::Enter(at));
        }
    }

    fn is_exhausted(&self, taken: Option<Taken>) -> bool {
        taken.is_some_and(|taken| self.model.nodes[taken.node as usize].firings[taken.firing as usize].exhausted)
    }
}
