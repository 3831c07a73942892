//! The state of one run, without I/O, clock or await: which node executions are due, and what an outcome does to them.
//!
//! [`Frontier`] is the one meaning of fork, join, visit, cancellation and exit. An executor asks it for what is
//! [due](Frontier::next_due), runs that wherever it likes, and hands back [outcomes](Frontier::complete) in any order.
//! It is generic over what a token carries: the in-process executor gives it payloads, a soundness search `()`.
//!
//! The rules:
//!
//! 1. A place holds at most one token, queued and running counted alike; marking a marked place is an error.
//! 2. A node consumes its input and takes one alternative: one target, or all branches of its fork.
//! 3. A branch of a fork may choose among targets, a join's slot among them.
//! 4. A join fires once when every slot has a value, and then empties.
//! 5. A latched slot remembers its value for later rounds, until a new one arrives; it does not count at exit.
//! 6. An alternative may clear a region; executions in it are discarded, however late they answer.
//! 7. The exit is legal only when nothing else is live; a half-filled slot is live.
//! 8. A failure ends the run and clears everything.
//! 9. Entry `visits + 1` takes the exhausted route before the handler runs.
//! 10. `attempts` bounds a node's edge to itself, and starts afresh on entry from another node.

use crate::bits::Bits;
use crate::net::{Alternative, Net, NodeIndex, PlaceIndex};
use crate::step::Step;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;

mod single;
mod solo;

pub use crate::violation::Violation;
pub use single::Single;
pub use solo::Solo;

/// What a token carries.
pub trait Payload: Sized {
    /// The place that the token lies in.
    fn place(&self) -> PlaceIndex;

    /// A copy of a token in a slot that is [kept](crate::net::NetPlace::kept); `None` for every other place.
    fn copy(&self) -> Option<Self>;
}

/// The tokens, half-filled joins and counts of one run.
#[derive(Clone)]
pub struct Frontier<'n, P> {
    net: &'n Net,
    /// By node.
    counts: Box<[Counts]>,
    marking: Marking,
    /// By place, as is what follows. Neither has anything in it before a token waits: many runs never have one that does.
    waiting: Box<[Option<P>]>,
    /// Up to the last that is kept: the value of a latched slot, and of a kept slot while its join runs.
    remembered: Box<[Option<P>]>,
    due: VecDeque<NodeIndex>,
    running: u32,
    exit: Option<P>,
    ended: bool,
}

/// One execution of one node: what an outcome is reported for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Execution {
    /// The node.
    pub node: NodeIndex,
    /// How often the node has been entered in this run, this time included: 1-based.
    pub visit: u32,
    /// How often it has come back to itself in this visit, this time included: 1-based.
    pub attempt: u32,
}

/// A node that has its input.
#[derive(Debug)]
pub struct Due<P> {
    /// What to report the outcome for.
    pub execution: Execution,
    /// The token, or one a slot in slot order.
    pub input: Input<P>,
    /// The bound that this entry breaks: take the exhausted route instead of running the handler.
    pub exhausted: Option<Limit>,
}

/// What a node execution consumes.
#[derive(Debug)]
pub enum Input<P> {
    /// A node's input.
    One(P),
    /// A join's slots, in order.
    Slots(Vec<P>),
}

/// A bound that an entry breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// `visits = n`.
    Visits(u32),
    /// `attempts = n`.
    Attempts(u32),
}

/// What an outcome did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// The executions that were running and are now discarded: stop them.
    pub cancelled: Vec<Execution>,
}

/// Where the tokens are.
#[derive(Clone, Debug)]
struct Marking {
    marked: Bits,
    nodes: Box<[NodeState]>,
}

/// What is known of a node beyond its counts.
#[derive(Clone, Copy, Debug, Default)]
struct NodeState {
    phase: Phase,
    /// Whether the token that waits came from the node itself, on an edge that `attempts` bounds.
    again: bool,
    /// Of a join, how many of its first slots are known to have a value: a join of a thousand is not searched from its
    /// first slot at every arrival.
    filled: u16,
}

/// How often a node was entered, and how often since then it has come back to itself. One number, because a chain of
/// nodes stores both three times a hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts(u64);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Due,
    Running,
}

impl<'n, P: Payload> Frontier<'n, P> {
    /// A run that starts with `entry`.
    pub fn new(net: &'n Net, entry: P) -> Self {
        let mut frontier = Self::empty(net);
        let place = usize::from(entry.place());
        frontier.marking.marked.insert(place);
        frontier.arrive(place, entry, None);
        frontier
    }

    fn empty(net: &'n Net) -> Self {
        Self::of(net, vec![Counts::default(); net.nodes().len()].into())
    }

    /// A run whose nodes have these counts, without any token.
    fn of(net: &'n Net, counts: Box<[Counts]>) -> Self {
        let nodes = vec![NodeState::default(); net.nodes().len()].into();
        Self {
            net,
            counts,
            marking: Marking { marked: Bits::new(net.places().len()), nodes },
            waiting: Box::default(),
            remembered: Box::default(),
            due: VecDeque::new(),
            running: 0,
            exit: None,
            ended: false,
        }
    }

    /// Makes the places that tokens wait in.
    #[cold]
    fn make_room(&mut self) {
        let empty = |places: usize| -> Box<[Option<P>]> { (0..places).map(|_| None).collect() };
        self.waiting = empty(self.net.places().len());
        self.remembered = empty(self.net.features().kept);
        self.due.reserve(8);
    }

    /// The next node execution to start, if one is due. It runs from now on.
    #[inline]
    pub fn next_due(&mut self) -> Option<Due<P>> {
        let node = self.due.pop_front()?;
        let row = self.net.intake(node);
        let (state, counts) = (&mut self.marking.nodes[usize::from(node)], &mut self.counts[usize::from(node)]);
        let mut exhausted = None;
        let (visits, attempt) = (counts.visits(), counts.attempt());
        if std::mem::take(&mut state.again) {
            *counts = Counts::new(visits, attempt.saturating_add(1));
            if counts.attempt() > row.attempts {
                exhausted = Some(Limit::Attempts(row.attempts));
            }
        } else {
            *counts = Counts::new(visits.saturating_add(1), 1);
            if counts.visits() > row.visits {
                exhausted = Some(Limit::Visits(row.visits));
            }
        }
        state.phase = Phase::Running;
        let execution = counts.execution(node);
        state.filled = 0;
        let input = if row.is_join {
            let mut slots = Vec::with_capacity(row.places().len());
            slots.extend(row.places().filter_map(|place| self.take(place)));
            Input::Slots(slots)
        } else {
            Input::One(self.waiting[usize::from(row.first_place)].take()?)
        };
        self.running += 1;
        Some(Due { execution, input, exhausted })
    }

    /// The same as [`next_due`](Self::next_due) where the next is an ordinary node that may be entered, but gives the
    /// token where it lies, to be taken: a thousand branches are moved that much less. `None` and no change otherwise.
    #[inline]
    pub fn next_plain(&mut self) -> Option<(Execution, &mut Option<P>)> {
        let node = *self.due.front()?;
        let row = self.net.intake(node);
        let (state, counts) = (&mut self.marking.nodes[usize::from(node)], &mut self.counts[usize::from(node)]);
        let (visits, attempt) = (counts.visits(), counts.attempt());
        *counts = match state.again {
            _ if row.is_join => return None,
            false if visits < row.visits => Counts::new(visits + 1, 1),
            true if attempt < row.attempts => Counts::new(visits, attempt + 1),
            _ => return None,
        };
        (state.again, state.phase) = (false, Phase::Running);
        let execution = counts.execution(node);
        self.due.pop_front();
        self.running += 1;
        Some((execution, &mut self.waiting[usize::from(row.first_place)]))
    }

    /// Absorbs the outcome of `execution`.
    ///
    /// # Errors
    ///
    /// [`Violation::Stale`] where the execution was cancelled meanwhile or reported before, and
    /// [`Violation::NotInTable`] where the step is not the node's: nothing changes. Any other violation means that the
    /// graph is unsound: the run cannot go on.
    pub fn complete(&mut self, execution: Execution, step: Step<P>) -> Result<Completed, Violation> {
        if !self.is_current(execution) {
            return Err(Violation::Stale);
        }
        let net = self.net;
        let step = match step {
            Step::One(alternative, token) if net.is_plain(alternative, execution.node, token.place()) => {
                self.release(execution.node);
                self.put(execution.node, token)?;
                return Ok(Completed::default());
            }
            step => step,
        };
        let alternative = step.alternative().and_then(|alternative| net.alternative(alternative));
        let Some(alternative) = alternative.filter(|found| found.source == execution.node && found.allows(&step))
        else {
            return Err(Violation::NotInTable { from: self.net.name(execution.node).to_owned() });
        };
        self.release(execution.node);
        let mut completed = Completed::default();
        if let Some(region) = &alternative.cancels {
            completed.cancelled = self.clear(&region.places, &region.nodes);
        }
        self.take_step(execution.node, step)?;
        Ok(completed)
    }

    /// Counts an entry of a node that takes no token of the run: an event node, an advisory node.
    pub fn enter_beside(&mut self, node: NodeIndex) -> (Execution, Option<Limit>) {
        let limit = self.net.intake(node).visits;
        let counts = &mut self.counts[usize::from(node)];
        *counts = Counts::new(counts.visits().saturating_add(1), 1);
        let exhausted = counts.visits() > limit;
        (counts.execution(node), exhausted.then_some(Limit::Visits(limit)))
    }

    /// Absorbs what an event node says. A redirect from where no token is changes nothing, and gives `None`.
    ///
    /// # Errors
    ///
    /// [`Violation::NotInTable`] where the step is not the node's: nothing changes. Any other violation means that the
    /// graph is unsound.
    pub fn redirect(&mut self, node: NodeIndex, step: Step<P>) -> Result<Option<Completed>, Violation> {
        let net = self.net;
        let not_in_table = || Violation::NotInTable { from: net.name(node).to_owned() };
        let Some(alternative) = step.alternative() else {
            return if net.row(node).resume { Ok(None) } else { Err(not_in_table()) };
        };
        let alternative = net.alternative(alternative).filter(|found| found.source == node && found.allows(&step));
        let region = alternative.ok_or_else(not_in_table)?.cancels.as_ref().ok_or_else(not_in_table)?;
        if self.ended || !self.marking.marked.iter().any(|place| region.places.contains(place)) {
            return Ok(None);
        }
        let cancelled = self.clear(&region.places, &region.nodes);
        self.take_step(node, step)?;
        Ok(Some(Completed { cancelled }))
    }

    /// Puts the tokens of a step where they go.
    fn take_step(&mut self, node: NodeIndex, step: Step<P>) -> Result<(), Violation> {
        match step {
            Step::One(_, token) => self.send(node, token)?,
            Step::Stay => {}
            Step::All(_, tokens) => {
                // The exit last: whichever branch it stands in, it is legal only if the others left nothing live.
                let mut exits = Vec::new();
                for token in tokens {
                    if token.place() == self.net.exit() {
                        exits.push(token);
                    } else {
                        self.put(node, token)?;
                    }
                }
                exits.into_iter().try_for_each(|token| self.send(node, token))?;
            }
        }
        Ok(())
    }

    /// The run as a [`Solo`] of `execution`; `None` if that does not run, or anything else runs or is due.
    pub fn solo(&mut self, execution: Execution) -> Option<Solo<'_>> {
        let alone = self.running == 1 && self.due.is_empty() && self.is_current(execution);
        alone.then(|| Solo::new(self.net, &mut self.counts, Some(&mut self.marking), execution.node))
    }

    /// One step of a [`Solo`]: the same as [`complete`](Self::complete) followed by [`next_due`](Self::next_due), or
    /// `None` and no change.
    pub fn relay(&mut self, execution: Execution, step: &Step<P>) -> Option<Execution> {
        let Step::One(alternative, token) = step else { return None };
        self.solo(execution)?.relay(*alternative, token.place())
    }

    /// The same run with other payloads, each in the place of the one it is made from.
    ///
    /// # Errors
    ///
    /// The first that `change` gives.
    pub fn try_map<Q: Payload, E>(self, mut change: impl FnMut(P) -> Result<Q, E>) -> Result<Frontier<'n, Q>, E> {
        let mut all = |payloads: Box<[Option<P>]>| {
            payloads.into_iter().map(|payload| payload.map(&mut change).transpose()).collect::<Result<_, E>>()
        };
        Ok(Frontier {
            net: self.net,
            counts: self.counts,
            marking: self.marking,
            waiting: all(self.waiting)?,
            remembered: all(self.remembered)?,
            exit: self.exit.map(change).transpose()?,
            due: self.due,
            running: self.running,
            ended: self.ended,
        })
    }

    /// Whether the outcome of `execution` still counts.
    #[inline]
    pub fn is_current(&self, execution: Execution) -> bool {
        let node = usize::from(execution.node);
        let (Some(state), Some(counts)) = (self.marking.nodes.get(node), self.counts.get(node)) else { return false };
        // An entry raises one of the counts, so an outcome that was reported before, or comes late, is of another.
        state.phase == Phase::Running && counts.execution(execution.node) == execution && !self.ended
    }

    /// Ends the run without an exit value, and gives the executions to stop.
    pub fn abandon(&mut self) -> Vec<Execution> {
        let mut stopped = Vec::new();
        // A run that came to its exit has nothing left.
        if self.ended && self.exit.is_none() && self.running == 0 && self.marking.marked.is_empty() {
            return stopped;
        }
        for index in 0..self.marking.nodes.len() {
            stopped.extend(self.discard(index));
        }
        self.marking.marked.clear();
        self.due.clear();
        self.waiting.fill_with(|| None);
        self.ended = true;
        stopped
    }

    /// The exit's token, once the run has come there.
    pub fn take_exit(&mut self) -> Option<P> {
        self.exit.take()
    }

    /// Whether the run has come to its exit, or was [abandoned](Self::abandon).
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// How many executions run.
    pub fn running(&self) -> usize {
        self.running as usize
    }

    /// The executions that run, in table order.
    pub fn executions(&self) -> impl Iterator<Item = Execution> + '_ {
        let states = self.marking.nodes.iter().zip(&self.counts).zip(0..);
        let running = states.filter(|((state, _), _)| state.phase == Phase::Running);
        running.map(|((_, counts), node)| counts.execution(node))
    }

    /// How many nodes are due.
    pub fn due(&self) -> usize {
        self.due.len()
    }

    /// Whether something is due.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// How often the node has been entered so far.
    pub fn visits(&self, node: NodeIndex) -> u32 {
        self.counts[usize::from(node)].visits()
    }

    /// The nodes that have been entered so far, in table order, each with how often.
    pub fn entries(&self) -> impl Iterator<Item = (NodeIndex, u32)> + '_ {
        entries(&self.counts)
    }

    /// The places that hold a token, by index.
    pub fn marking(&self) -> impl Iterator<Item = usize> + '_ {
        self.marking.marked.iter()
    }

    /// Why the run cannot go on, if nothing is due and nothing runs.
    pub fn stuck(&self) -> Option<Violation> {
        if self.ended || self.running > 0 || self.has_due() {
            return None;
        }
        let joins: Vec<_> = self.marking.marked.iter().map(|place| self.net.places()[place].node).collect();
        let (mut filled, mut missing) = (Vec::new(), Vec::new());
        for (index, place) in self.net.places().iter().enumerate().filter(|(_, place)| joins.contains(&place.node)) {
            let list = if self.has_value(index) { &mut filled } else { &mut missing };
            list.push(place.name.clone());
        }
        Some(Violation::Deadlock { filled, missing })
    }

    #[inline]
    fn send(&mut self, from: NodeIndex, token: P) -> Result<(), Violation> {
        if token.place() == self.net.exit() {
            return self.leave(from, token);
        }
        self.put(from, token)
    }

    /// The same to any place but the exit.
    #[inline(always)]
    fn put(&mut self, from: NodeIndex, token: P) -> Result<(), Violation> {
        let place = token.place();
        if !self.marking.marked.insert(usize::from(place)) {
            return Err(self.double_token(from, place));
        }
        self.arrive(usize::from(place), token, Some(from));
        Ok(())
    }

    /// Ends the run with the exit's token.
    #[inline(never)]
    fn leave(&mut self, from: NodeIndex, token: P) -> Result<(), Violation> {
        if !self.marking.marked.is_empty() {
            let live = self.marking.marked.iter().map(|place| self.net.places()[place].name.clone()).collect();
            return Err(Violation::LiveAtExit { from: self.net.name(from).to_owned(), live });
        }
        if self.ended {
            return Err(self.double_token(from, token.place()));
        }
        self.exit = Some(token);
        self.ended = true;
        Ok(())
    }

    #[cold]
    fn double_token(&self, from: NodeIndex, place: PlaceIndex) -> Violation {
        let from = self.net.name(from).to_owned();
        Violation::DoubleToken { from, place: self.net.place(place).name.clone() }
    }

    /// Puts a token into a marked place, and makes its consumer due if that was all it needed.
    #[inline(always)]
    fn arrive(&mut self, place: usize, token: P, from: Option<NodeIndex>) {
        if self.waiting.is_empty() {
            self.make_room();
        }
        self.waiting[place] = Some(token);
        let node = self.net.consumer(place).node;
        let row = self.net.intake(node);
        if row.is_join {
            let mut filled = usize::from(self.marking.nodes[usize::from(node)].filled);
            while filled < row.places().len() && self.has_value(row.places().start + filled) {
                filled += 1;
            }
            self.marking.nodes[usize::from(node)].filled = filled as u16;
            if filled < row.places().len() {
                return;
            }
        }
        let state = &mut self.marking.nodes[usize::from(node)];
        // A join that is due already, thanks to a remembered value, takes the new one instead.
        if state.phase != Phase::Idle {
            return;
        }
        state.again = row.tries && from == Some(node);
        state.phase = Phase::Due;
        self.due.push_back(node);
    }

    fn has_value(&self, place: usize) -> bool {
        self.is_waiting(place)
            || (self.net.consumer(place).latched && self.remembered.get(place).is_some_and(Option::is_some))
    }

    fn is_waiting(&self, place: usize) -> bool {
        self.waiting.get(place).is_some_and(Option::is_some)
    }

    /// Takes a slot's value; that of a kept slot stays remembered.
    #[inline]
    fn take(&mut self, place: usize) -> Option<P> {
        if !self.net.consumer(place).kept {
            return self.waiting[place].take();
        }
        if let Some(arrived) = self.waiting[place].take() {
            self.remembered[place] = Some(arrived);
        }
        self.remembered[place].as_ref().and_then(Payload::copy)
    }

    /// Consumes the input of a node that has run.
    #[inline]
    fn release(&mut self, node: NodeIndex) {
        let row = self.net.intake(node);
        self.marking.nodes[usize::from(node)].phase = Phase::Idle;
        self.running -= 1;
        if !row.is_join {
            // Nothing else can have arrived while its place was marked, and nothing remembers what lay there.
            self.marking.marked.remove(usize::from(row.first_place));
            return;
        }
        for place in row.places() {
            // What has arrived since the join fired belongs to its next round.
            if self.waiting[place].is_none() {
                self.marking.marked.remove(place);
            }
            let consumer = self.net.consumer(place);
            // Of a place that is not kept, nothing is remembered.
            if consumer.kept && !consumer.latched {
                self.remembered[place] = None;
            }
        }
    }

    /// Gives what is remembered of a place, which is not remembered any more.
    fn forget(&mut self, place: usize) -> Option<P> {
        self.remembered.get_mut(place)?.take()
    }

    fn clear(&mut self, places: &Bits, nodes: &Bits) -> Vec<Execution> {
        for place in places.iter() {
            if let Some(waiting) = self.waiting.get_mut(place) {
                *waiting = None;
            }
            self.forget(place);
        }
        self.marking.marked.subtract(places);
        let mut stopped = Vec::new();
        for index in nodes.iter() {
            stopped.extend(self.discard(index));
            // A join that loses one slot has the others still, even if it ran with them.
            for place in self.net.nodes()[index].places().filter(|&place| !self.net.places()[place].latched) {
                if self.marking.marked.contains(place) && !self.is_waiting(place) {
                    let remembered = self.forget(place);
                    self.waiting[place] = remembered;
                }
            }
        }
        self.due.retain(|&node| self.marking.nodes[usize::from(node)].phase == Phase::Due);
        stopped
    }

    /// Makes a node idle; gives its execution if one ran.
    fn discard(&mut self, index: usize) -> Option<Execution> {
        let state = &mut self.marking.nodes[index];
        (state.filled, state.again) = (0, false);
        let ran = state.phase == Phase::Running;
        let execution = self.counts[index].execution(index as NodeIndex);
        state.phase = Phase::Idle;
        self.running -= u32::from(ran);
        ran.then_some(execution)
    }
}

/// The nodes that have been entered, each with how often.
fn entries(counts: &[Counts]) -> impl Iterator<Item = (NodeIndex, u32)> + '_ {
    let visits = counts.iter().zip(0..).map(|(counts, node)| (node, counts.visits()));
    visits.filter(|(_, visits)| *visits > 0)
}

impl Counts {
    #[inline]
    fn new(visits: u32, attempt: u32) -> Self {
        Self(u64::from(visits) | u64::from(attempt) << 32)
    }

    #[inline]
    fn visits(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    fn attempt(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The latest execution of `node`, whose counts these are.
    #[inline]
    fn execution(self, node: NodeIndex) -> Execution {
        Execution { node, visit: self.visits(), attempt: self.attempt() }
    }
}

impl<P: fmt::Debug> fmt::Debug for Frontier<'_, P> {
    /// The whole state of the run, without the net it moves on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frontier")
            .field("counts", &self.counts)
            .field("marked", &self.marking.marked)
            .field("waiting", &self.waiting)
            .field("remembered", &self.remembered)
            .field("nodes", &self.marking.nodes)
            .field("due", &self.due)
            .field("running", &self.running)
            .field("exit", &self.exit)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl Alternative {
    /// Whether a node that takes this alternative may hand out these tokens: one a branch, each where its branch leads.
    #[inline]
    fn allows<P: Payload>(&self, step: &Step<P>) -> bool {
        match (step, &self.branches[..]) {
            (Step::One(_, token), [allowed]) => allowed.contains(&token.place()),
            (Step::All(_, tokens), branches) if self.only.is_empty() => {
                tokens.len() == branches.len()
                    && tokens.iter().zip(branches).all(|(token, allowed)| allowed.contains(&token.place()))
            }
            // Most branches lead to one place, and then all of them are one list.
            (Step::All(_, tokens), _) => tokens.iter().map(P::place).eq(self.only.iter().copied()),
            (Step::One(..) | Step::Stay, _) => false,
        }
    }
}
