//! The state of one run: which node executions are due, and how an outcome changes that. It does no I/O, reads no clock
//! and awaits nothing.
//!
//! [`Frontier`] is the only implementation of fork, join, visit, cancellation and exit. An executor asks it for
//! [due](Frontier::next_due) executions, runs them anywhere, and reports their [outcomes](Frontier::complete) in any
//! order. The type is generic over what a token carries: the in-process executor uses payloads, a soundness search
//! `()`.
//!
//! The rules:
//!
//! 1. A place holds at most one token, whether queued or consumed by a running execution; marking a marked place is an
//!    error.
//! 2. A node consumes its input and takes one alternative: one target, or all branches of its fork.
//! 3. A branch of a fork may choose among targets, a join's slot among them.
//! 4. A join fires once when every slot has a value, and then empties.
//! 5. A latched slot keeps its value for later rounds, until a new value arrives; it does not count at exit.
//! 6. An alternative may clear a region; executions in it are discarded, however late they answer.
//! 7. The exit is legal only when nothing else is live; a half-filled slot is live.
//! 8. A failure ends the run and clears everything, unless the node has a route for it, which is an alternative like
//!    any other.
//! 9. Entry `visits + 1` takes the exhausted route before the handler runs.
//! 10. `attempts` bounds a node's edge to itself; the count restarts on entry from another node.
//! 11. `times` bounds an edge: once it is spent, a node that chooses the edge takes the edge's exhausted route instead.
//! 12. A join with a quorum fires with the outcome that brings its n-th value, or fills its last slot. It then clears
//!     its region, and holds all of its slots until it has run. A token that skips a branch, or is no value, fills a
//!     slot and does not count.

use crate::bits::Bits;
use crate::net::{Alternative, Net, NodeIndex, PlaceIndex, Region};
use crate::step::Step;
use std::collections::VecDeque;

mod counts;
mod edges;
mod execution;
mod marking;
mod quorum;
mod single;
mod solo;
mod state;
mod tokens;

use self::counts::Counts;
pub use self::execution::{Completed, Due, Execution, Input, Limit};
use self::marking::{Marking, NodeState, Phase};
pub use self::single::Single;
pub use self::solo::Solo;
pub use crate::violation::Violation;

/// What a token carries.
pub trait Payload: Sized {
    /// The place where the token lies.
    fn place(&self) -> PlaceIndex;

    /// Whether the token counts for the quorum of the join in whose slot it lies. A token in an
    /// [optional](crate::net::NetPlace::optional) slot may carry no value.
    fn is_value(&self) -> bool {
        true
    }

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
    /// By place, as is `remembered`. Both are empty until a token waits, which never happens in many runs.
    waiting: Box<[Option<P>]>,
    /// Up to the last kept place: the value of a latched slot, and of a kept slot while its join runs.
    remembered: Box<[Option<P>]>,
    due: VecDeque<NodeIndex>,
    running: u32,
    exit: Option<P>,
    /// By budgeted edge: how often it has been taken. Few nets have such edges.
    taken: Box<[u32]>,
    ended: bool,
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

    /// A run whose nodes have these counts, and that has no token.
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
            taken: vec![0; net.features().budgeted_edges].into(),
            ended: false,
        }
    }

    /// Allocates the places where tokens wait.
    #[cold]
    fn allocate_places(&mut self) {
        let empty = |places: usize| -> Box<[Option<P>]> { (0..places).map(|_| None).collect() };
        self.waiting = empty(self.net.places().len());
        self.remembered = empty(self.net.features().kept);
        self.due.reserve(8);
    }

    /// The next node execution to start, if one is due. The frontier counts it as running from then on, also if
    /// [`Payload::copy`] panics.
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
        (state.filled, state.values) = (0, 0);
        self.running += 1;
        let input = if row.is_join {
            let mut slots = Vec::with_capacity(row.places().len());
            slots.extend(row.places().filter_map(|place| self.take(place)));
            Input::Slots(slots)
        } else {
            Input::One(self.waiting[usize::from(row.first_place)].take()?)
        };
        Some(Due { execution, input, exhausted })
    }

    /// The same as [`next_due`](Self::next_due) where the next node is no join and may be entered, but returns a
    /// reference to the token's place, so that the caller takes the token from there: this saves one move per token,
    /// which matters with a thousand branches. Otherwise returns `None` and changes nothing.
    #[doc(hidden)]
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

    /// Applies the outcome of `execution`.
    ///
    /// # Errors
    ///
    /// [`Violation::Stale`] where the execution was cancelled meanwhile or reported before, [`Violation::NotInTable`]
    /// where the step is not the node's, and [`Violation::EdgeSpent`] where it takes an edge that
    /// [is spent](Self::is_spent): nothing changes then. Any other violation means that the graph is unsound: the run
    /// cannot continue.
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
        self.within_budget(alternative)?;
        self.count_taken(alternative);
        self.release(execution.node);
        let mut completed = Completed::default();
        if let Some(region) = &alternative.cancels {
            completed.cancelled = self.clear(&region.places, &region.nodes);
        }
        self.take_step(execution.node, step)?;
        completed.cancelled.extend(self.fire_quorums());
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

    /// Whether the run can use a message to event node `node`: a token lies in a region that one of the node's edges
    /// clears, or a map is live to which the node may add items.
    pub fn awaits(&self, node: NodeIndex) -> bool {
        let edges = usize::from(self.net.node(node).alternatives.start)..;
        let edges = edges.zip(&self.net.row(node).goto).filter_map(|(edge, _)| self.net.alternatives().get(edge));
        let is_live = |name: &String| self.net.node_named(name).is_some_and(|map| self.live(map).is_some());
        !self.ended
            && (edges.filter_map(|edge| edge.cancels.as_ref()).any(|region| self.is_marked(region))
                || self.net.row(node).adds_to.iter().any(is_live))
    }

    /// Whether a token lies in a region.
    fn is_marked(&self, region: &Region) -> bool {
        self.marking.marked.iter().any(|place| region.places.contains(place))
    }

    /// Applies the outcome of an event node. A redirect from a region without a token changes nothing, and returns
    /// `None`.
    ///
    /// # Errors
    ///
    /// [`Violation::NotInTable`] where the step is not the node's, and [`Violation::EdgeSpent`] where it takes an edge that
    /// [is spent](Self::is_spent): nothing changes. Any other violation means that the graph is unsound.
    pub fn redirect(&mut self, node: NodeIndex, step: Step<P>) -> Result<Option<Completed>, Violation> {
        let net = self.net;
        let not_in_table = || Violation::NotInTable { from: net.name(node).to_owned() };
        let Some(alternative) = step.alternative() else {
            return if net.row(node).may_stay() { Ok(None) } else { Err(not_in_table()) };
        };
        let alternative = net.alternative(alternative).filter(|found| found.source == node && found.allows(&step));
        let alternative = alternative.ok_or_else(not_in_table)?;
        let region = alternative.cancels.as_ref().ok_or_else(not_in_table)?;
        self.within_budget(alternative)?;
        if self.ended || !self.is_marked(region) {
            return Ok(None);
        }
        self.count_taken(alternative);
        let mut cancelled = self.clear(&region.places, &region.nodes);
        self.take_step(node, step)?;
        cancelled.extend(self.fire_quorums());
        Ok(Some(Completed { cancelled }))
    }

    /// Puts the tokens of a step into their places.
    fn take_step(&mut self, node: NodeIndex, step: Step<P>) -> Result<(), Violation> {
        let skipped = self.skipped(&step);
        match step {
            Step::One(_, token) => self.send(node, token)?,
            Step::Stay => {}
            Step::All(_, tokens) => {
                // The exit comes last, whichever branch leads there: it is legal only if the other branches left
                // nothing live.
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
        self.uncount(&skipped);
        Ok(())
    }

    /// The run as a [`Solo`] of `execution`; `None` if `execution` does not run, or anything else runs or is due.
    #[doc(hidden)]
    pub fn solo(&mut self, execution: Execution) -> Option<Solo<'_>> {
        let alone = self.running == 1 && self.due.is_empty() && self.is_current(execution);
        alone.then(|| Solo::new(self.net, &mut self.counts, Some(&mut self.marking), execution.node))
    }

    /// One step of a [`Solo`]: the same as [`complete`](Self::complete) followed by [`next_due`](Self::next_due). Where
    /// no such step is possible, returns `None` and changes nothing.
    #[doc(hidden)]
    pub fn relay(&mut self, execution: Execution, step: &Step<P>) -> Option<Execution> {
        let Step::One(alternative, token) = step else { return None };
        self.solo(execution)?.relay(*alternative, token.place())
    }

    /// The same run with each payload replaced by the one that `change` makes from it.
    ///
    /// # Errors
    ///
    /// The first error of `change`.
    pub fn try_map<Q: Payload, E>(self, mut change: impl FnMut(P) -> Result<Q, E>) -> Result<Frontier<'n, Q>, E> {
        Ok(Frontier {
            net: self.net,
            counts: self.counts,
            marking: self.marking,
            waiting: map_all(self.waiting, &mut change)?,
            remembered: map_all(self.remembered, &mut change)?,
            exit: self.exit.map(change).transpose()?,
            due: self.due,
            running: self.running,
            taken: self.taken,
            ended: self.ended,
        })
    }

    /// Ends the run without an exit value, and returns the executions to stop.
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
}

fn map_all<P, Q, E>(
    payloads: Box<[Option<P>]>,
    change: &mut impl FnMut(P) -> Result<Q, E>,
) -> Result<Box<[Option<Q>]>, E> {
    let mut changed = Vec::with_capacity(payloads.len());
    for payload in payloads {
        changed.push(match payload {
            Some(payload) => Some(change(payload)?),
            None => None,
        });
    }
    Ok(changed.into())
}

impl Alternative {
    /// Whether these tokens fit this alternative: one per branch, each in a place where that branch leads.
    #[inline]
    fn allows<P: Payload>(&self, step: &Step<P>) -> bool {
        match (step, &self.branches[..]) {
            (Step::One(_, token), [allowed]) => allowed.contains(&token.place()),
            (Step::All(_, tokens), branches) if self.only.is_empty() => {
                tokens.len() == branches.len()
                    && tokens.iter().zip(branches).all(|(token, allowed)| allowed.contains(&token.place()))
            }
            // If each branch leads to one place, as in most forks, these places are one list.
            (Step::All(_, tokens), _) => tokens.iter().map(P::place).eq(self.only.iter().copied()),
            (Step::One(..) | Step::Stay, _) => false,
        }
    }
}
