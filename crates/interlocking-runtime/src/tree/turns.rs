//! Turns in a whole tree of runs, in the order in which they are asked for: of the executions that are `exclusive` under one
//! name, one at a time has its turn, and of the runs that ask under one name, one at a time.
//!
//! An execution's turn lasts from before its workspace is prepared until its outcome is absorbed, so that the next execution
//! finds in memory, workspace and journal what this one left. The turn of a graph node also lasts until its child has stopped,
//! and [that of a run](super::run_turns) lasts from execution to execution. Turns are in memory alone: when a process ends, its
//! turns end. But a child run that was in progress then is a half-done [section](super::sections), and so is what a run has
//! done in its turn: in the next process, the turn of a section comes before all others of its queue.

use super::sections::Section;
use crate::journal::By;
use crate::mutex::Mutex;
use interlocking_core::frontier::Execution;
use interlocking_core::run_id::RunId;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// The turns of one tree of runs.
#[derive(Default)]
pub(crate) struct Turns {
    lanes: Mutex<Lanes>,
    /// Whether sections may be expected. While none are, the end of an execution needs no lock.
    expects: AtomicBool,
}

/// A queue of executions or runs that take turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Queue {
    /// The executions of nodes that are `exclusive` under this name.
    Nodes(Cow<'static, str>),
    /// The runs that ask under this name.
    Runs(Cow<'static, str>),
}

#[derive(Default)]
struct Lanes {
    by_queue: HashMap<Queue, Lane>,
    /// How many times a turn was asked for.
    asked: u64,
}

/// The state of one queue.
#[derive(Default)]
struct Lane {
    holder: Option<u64>,
    queue: VecDeque<Waiter>,
    /// The sections that another process began, until each has its turn or is no longer expected.
    begun: Vec<Section>,
}

/// An asker that waits.
struct Waiter {
    number: u64,
    asker: Asker,
    wakeup: Arc<Notify>,
}

/// The execution that asks for a turn.
pub(crate) struct Asker {
    pub(crate) run: RunId,
    pub(crate) by: By,
    /// Called once the execution or its run has its turn, before the previous holder of the turn continues.
    pub(crate) on_turn: Box<dyn Fn() + Send>,
}

/// A turn, or a place in the queue. When it is dropped, the next asker has its turn.
pub(crate) struct Turn {
    turns: Arc<Turns>,
    queue: Queue,
    number: u64,
}

/// The turns of executions that have ended, until their outcomes are absorbed; and the turns of graph nodes.
#[derive(Default)]
pub(crate) struct KeptTurns(Mutex<Vec<(Execution, Arc<Turn>)>>);

impl Turns {
    /// Asks for a turn: returns the turn, or a place in the queue with what is notified once the turn may have come.
    pub(crate) fn ask(self: &Arc<Self>, queue: Queue, asker: impl FnOnce() -> Asker) -> (Turn, Option<Arc<Notify>>) {
        let mut lanes = self.lanes.lock();
        lanes.asked += 1;
        let number = lanes.asked;
        let lane = lanes.lane(&queue);
        let turn = Turn { turns: self.clone(), queue, number };
        if lane.holder.is_none() && lane.begun.is_empty() {
            // Then no asker waits either.
            lane.holder = Some(number);
            return (turn, None);
        }
        let wakeup = Arc::new(Notify::new());
        lane.queue.push_back(Waiter { number, asker: asker(), wakeup: wakeup.clone() });
        lane.give();
        let has_come = lane.holder == Some(number);
        (turn, Some(wakeup).filter(|_| !has_come))
    }

    /// Wakes every asker that waits, because what executions may use is used up.
    pub(crate) fn wake_all(&self) {
        let lanes = self.lanes.lock();
        lanes.by_queue.values().flat_map(|lane| &lane.queue).for_each(|waiter| waiter.wakeup.notify_one());
    }

    /// Lets the other executions of `run` that wait in the queue continue, because the run has its turn.
    pub(crate) fn wake_run(&self, queue: &Queue, run: &RunId) {
        let mut lanes = self.lanes.lock();
        for Waiter { asker, wakeup, .. } in lanes.lane(queue).queue.iter().filter(|waiter| waiter.asker.run == *run) {
            (asker.on_turn)();
            wakeup.notify_one();
        }
    }

    /// Expects these sections: they come before all others of their queues.
    pub(crate) fn expect(&self, sections: Vec<Section>) {
        self.expects.store(!sections.is_empty(), Ordering::Release);
        let mut lanes = self.lanes.lock();
        for section in sections {
            lanes.lane(&section.queue).begun.push(section);
        }
    }

    /// Whether a section that is in `run`, or below it, is expected.
    pub(crate) fn expects(&self, run: &RunId) -> bool {
        self.expects.load(Ordering::Acquire)
            && self.lanes.lock().by_queue.values().flat_map(|lane| &lane.begun).any(|section| section.is_within(run))
    }

    /// Stops expecting the sections that will not come.
    pub(crate) fn forget_sections(&self, is_obsolete: impl Fn(&Section) -> bool) {
        if !self.expects.load(Ordering::Acquire) {
            return;
        }
        let mut lanes = self.lanes.lock();
        for lane in lanes.by_queue.values_mut() {
            lane.begun.retain(|section| !is_obsolete(section));
            lane.give();
        }
        self.expects.store(lanes.by_queue.values().any(|lane| !lane.begun.is_empty()), Ordering::Release);
    }
}

impl Lanes {
    fn lane(&mut self, queue: &Queue) -> &mut Lane {
        self.by_queue.entry(queue.clone()).or_default()
    }
}

impl Lane {
    /// Gives the turn to the next asker, if the turn is free.
    fn give(&mut self) {
        if self.holder.is_some() {
            return;
        }
        let is_begun =
            |begun: &[Section], asker: &Asker| begun.iter().position(|it| it.belongs_to(&asker.run, &asker.by));
        let next = match &self.begun[..] {
            [] => (!self.queue.is_empty()).then_some(0),
            begun => self.queue.iter().position(|waiter| is_begun(begun, &waiter.asker).is_some()),
        };
        let Some(Waiter { number, asker, wakeup }) = next.and_then(|at| self.queue.remove(at)) else { return };
        if let Some(at) = is_begun(&self.begun, &asker) {
            self.begun.remove(at);
        }
        self.holder = Some(number);
        (asker.on_turn)();
        wakeup.notify_one();
    }
}

impl Turn {
    /// Whether the turn has come.
    pub(crate) fn has_come(&self) -> bool {
        self.turns.lanes.lock().lane(&self.queue).holder == Some(self.number)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut lanes = self.turns.lanes.lock();
        let lane = lanes.lane(&self.queue);
        if lane.holder == Some(self.number) {
            lane.holder = None;
            lane.give();
        } else {
            lane.queue.retain(|waiter| waiter.number != self.number);
        }
    }
}

impl KeptTurns {
    /// Keeps the turn of an execution.
    pub(crate) fn keep(&self, execution: Execution, turn: Arc<Turn>) {
        let mut kept = self.0.lock();
        if kept.iter().all(|(other, _)| *other != execution) {
            kept.push((execution, turn));
        }
    }

    /// The turn of an execution, which also keeps it.
    pub(crate) fn share(&self, execution: Execution) -> Option<Arc<Turn>> {
        self.0.lock().iter().find(|(other, _)| *other == execution).map(|(_, turn)| turn.clone())
    }

    /// Takes the turn of an execution; it ends when the returned value is dropped.
    pub(crate) fn take(&self, execution: Execution) -> Option<Arc<Turn>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(other, _)| *other == execution)?;
        Some(kept.swap_remove(at).1)
    }

    /// Ends all turns, because no outcome is absorbed any more.
    pub(crate) fn end(&self) {
        let kept = std::mem::take(&mut *self.0.lock());
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> RunId {
        name.parse().unwrap()
    }

    fn by(node: &str) -> By {
        By { node: node.to_owned(), visit: 1, attempt: 1 }
    }

    /// Node `node` of run `r` asks.
    fn ask(turns: &Arc<Turns>, name: &'static str, node: &str) -> Turn {
        turns.ask(Queue::Nodes(name.into()), || asker("r", node)).0
    }

    fn asker(of: &str, node: &str) -> Asker {
        Asker { run: run(of), by: by(node), on_turn: Box::new(|| {}) }
    }

    /// The section `till` of graph node `node` of run `r`, whose parent run is `root`.
    fn section(node: &str) -> Section {
        let path = vec![(run("root"), by("map")), (run("r"), by(node))];
        Section { queue: Queue::Nodes("till".into()), path, run: None }
    }

    #[test]
    fn turns_come_in_the_order_in_which_they_are_asked_for() {
        let turns = Arc::new(Turns::default());
        let first = ask(&turns, "main", "a");
        assert!(first.has_come());
        assert!(ask(&turns, "docs", "a").has_come(), "another name");
        let (second, third) = (ask(&turns, "main", "b"), ask(&turns, "main", "c"));
        assert!(!second.has_come() && !third.has_come());
        drop(first);
        assert!(second.has_come() && !third.has_come());
        drop(second);
        assert!(third.has_come());
    }

    #[test]
    fn whoever_no_longer_waits_leaves_the_queue() {
        let turns = Arc::new(Turns::default());
        let first = ask(&turns, "main", "a");
        let (second, third, fourth) = (ask(&turns, "main", "b"), ask(&turns, "main", "c"), ask(&turns, "main", "d"));
        drop(third);
        drop(first);
        drop(second);
        assert!(fourth.has_come());
    }

    #[test]
    fn a_turn_lasts_until_what_came_of_it_is_absorbed() {
        let (turns, kept) = (Arc::new(Turns::default()), KeptTurns::default());
        let of = |node| Execution { node, visit: 1, attempt: 1 };
        kept.keep(of(1), Arc::new(ask(&turns, "main", "a")));
        assert!(kept.take(of(2)).is_none() && !ask(&turns, "main", "b").has_come());
        let child = kept.share(of(1));
        drop(kept.take(of(1)));
        assert!(!ask(&turns, "main", "b").has_come(), "its child has not come to rest");
        drop(child);
        kept.keep(of(2), Arc::new(ask(&turns, "main", "b")));
        kept.end();
        assert!(ask(&turns, "main", "c").has_come());
    }

    #[test]
    fn a_section_that_was_begun_comes_first() {
        let turns = Arc::new(Turns::default());
        turns.expect(vec![section("till")]);
        assert!(turns.expects(&run("r")) && turns.expects(&run("root")) && !turns.expects(&run("other")));
        let other = ask(&turns, "till", "other");
        assert!(!other.has_come() && ask(&turns, "safe", "other").has_come());
        let begun = ask(&turns, "till", "till");
        assert!(begun.has_come() && !turns.expects(&run("r")));
        drop(begun);
        assert!(other.has_come());
    }

    #[test]
    fn a_run_that_had_its_turn_comes_first() {
        let turns = Arc::new(Turns::default());
        let till = || Queue::Runs("till".into());
        let path = vec![(run("root"), by("map"))];
        turns.expect(vec![Section { queue: till(), path, run: Some(run("r")) }]);
        assert!(turns.expects(&run("r")) && turns.expects(&run("root")) && !turns.expects(&run("other")));
        let (other, _) = turns.ask(till(), || asker("other", "pay"));
        assert!(!other.has_come() && ask(&turns, "till", "pay").has_come(), "nodes are in a queue of their own");
        let (own, _) = turns.ask(till(), || asker("r", "anything"));
        assert!(own.has_come() && !turns.expects(&run("r")));
        drop(own);
        assert!(other.has_come());
    }

    #[test]
    fn nobody_waits_for_a_section_that_comes_no_more() {
        let turns = Arc::new(Turns::default());
        turns.expect(vec![section("till")]);
        let other = ask(&turns, "till", "other");
        turns.forget_sections(|section| section.leads_through(&run("r"), &by("other")));
        assert!(!other.has_come());
        turns.forget_sections(|section| section.leads_through(&run("root"), &by("map")));
        assert!(other.has_come());
    }
}
