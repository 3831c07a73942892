//! Idle executions of a run: they wait for a person and for nothing else, or are held back because a budget is used up.
//!
//! A run waits for people when all its executions are parked. A child run that waits tells the execution of its map node, which
//! is parked when all its children wait.

use crate::mutex::Mutex;
use interlocking_core::frontier::Execution;
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// The parked executions of one run.
#[derive(Default)]
pub(crate) struct IdleExecutions {
    parked: Mutex<HashSet<Execution>>,
    /// The executions that do not continue in this process, even when their children end.
    held_back: Mutex<HashSet<Execution>>,
    /// Notified of every change; the run's driver listens.
    pub(crate) changed: Notify,
}

/// The children of one map execution.
pub(crate) struct ChildGroup {
    idle: Arc<IdleExecutions>,
    execution: Execution,
    /// How many children may run at once. The others cannot begin until one of these has ended.
    concurrency: usize,
    /// The parent run's own slot among its siblings, if the parent is a child run.
    above: Option<Weak<ChildSlot>>,
    /// How many children have not ended, and how many of these wait.
    counts: Mutex<(usize, usize)>,
}

/// One child's place among its siblings.
pub(crate) struct ChildSlot {
    siblings: Arc<ChildGroup>,
    /// Whether the child waits; `None` once it has ended.
    waiting: Mutex<Option<bool>>,
}

/// A parked execution. The execution continues when this is dropped.
pub(crate) struct Parked<'run> {
    idle: &'run IdleExecutions,
    execution: Execution,
}

impl IdleExecutions {
    pub(crate) fn park(&self, execution: Execution) -> Parked<'_> {
        self.set(execution, true);
        Parked { idle: self, execution }
    }

    /// Parks an execution that does not continue in this process.
    pub(crate) fn hold_back(&self, execution: Execution) {
        self.held_back.lock().insert(execution);
        self.set(execution, true);
    }

    /// Unparks an execution that may continue, before its task is polled.
    pub(crate) fn leave(&self, execution: Execution) {
        self.set(execution, false);
    }

    /// How many executions are parked.
    pub(crate) fn count(&self) -> usize {
        self.parked.lock().len()
    }

    pub(crate) fn is_parked(&self, execution: Execution) -> bool {
        self.parked.lock().contains(&execution)
    }

    pub(crate) fn is_held_back(&self, execution: Execution) -> bool {
        self.held_back.lock().contains(&execution)
    }

    fn set(&self, execution: Execution, parked: bool) {
        let mut set = self.parked.lock();
        let changed = match parked {
            true => set.insert(execution),
            false => !self.held_back.lock().contains(&execution) && set.remove(&execution),
        };
        drop(set);
        if changed {
            self.changed.notify_one();
        }
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.idle.set(self.execution, false);
    }
}

impl ChildGroup {
    pub(crate) fn new(
        idle: Arc<IdleExecutions>,
        execution: Execution,
        concurrency: usize,
        above: Option<&Arc<ChildSlot>>,
    ) -> Arc<Self> {
        Arc::new(Self { idle, execution, concurrency, above: above.map(Arc::downgrade), counts: Mutex::default() })
    }

    /// Adds a child.
    pub(crate) fn child_slot(self: &Arc<Self>) -> Arc<ChildSlot> {
        self.count(1, 0);
        Arc::new(ChildSlot { siblings: self.clone(), waiting: Mutex::new(Some(false)) })
    }

    fn count(&self, alive: isize, waiting: isize) {
        let mut counts = self.counts.lock();
        *counts = (counts.0.saturating_add_signed(alive), counts.1.saturating_add_signed(waiting));
        let all_wait = counts.0 > 0 && counts.0.min(self.concurrency) == counts.1;
        self.idle.set(self.execution, all_wait);
        // All ancestors are told at once. If each driver told the next one, the root might end the tree as waiting before it is
        // told.
        if !all_wait && let Some(above) = self.above.as_ref().and_then(Weak::upgrade) {
            above.set_waiting(false);
        }
    }
}

impl ChildSlot {
    /// Sets whether the child waits for a person and for nothing else.
    pub(crate) fn set_waiting(&self, waiting: bool) {
        let mut known = self.waiting.lock();
        if let Some(known) = &mut *known
            && *known != waiting
        {
            *known = waiting;
            self.siblings.count(0, if waiting { 1 } else { -1 });
        }
    }

    /// The child has ended, though its late work may go on.
    pub(crate) fn end(&self) {
        if let Some(waited) = self.waiting.lock().take() {
            self.siblings.count(-1, -isize::from(waited));
        }
    }
}

/// A child whose future is dropped has ended, too.
impl Drop for ChildSlot {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: Execution = Execution { node: 0, visit: 1, attempt: 1 };

    #[test]
    fn a_map_is_parked_while_all_its_children_wait() {
        let idle = Arc::new(IdleExecutions::default());
        let siblings = ChildGroup::new(idle.clone(), MAP, usize::MAX, None);
        let (one, other) = (siblings.child_slot(), siblings.child_slot());
        one.set_waiting(true);
        assert!(!idle.is_parked(MAP), "the other goes on");
        other.set_waiting(true);
        assert!(idle.is_parked(MAP));
        one.set_waiting(false);
        assert!(!idle.is_parked(MAP), "it was answered");
        drop(one);
        assert!(idle.is_parked(MAP), "it has ended, and the other waits");
        drop(other);
        assert_eq!(idle.count(), 0, "its children have ended, so it goes on");
    }

    #[test]
    fn a_map_that_is_held_back_is_so_whatever_its_children_do() {
        let idle = Arc::new(IdleExecutions::default());
        let siblings = ChildGroup::new(idle.clone(), MAP, usize::MAX, None);
        let (one, other) = (siblings.child_slot(), siblings.child_slot());
        idle.hold_back(MAP);
        other.set_waiting(true);
        drop(one);
        drop(other);
        assert!(idle.is_parked(MAP), "its children end after it");
    }

    #[test]
    fn a_child_that_goes_on_is_known_all_the_way_up() {
        let (root, child) = (Arc::new(IdleExecutions::default()), Arc::new(IdleExecutions::default()));
        let child_slot = ChildGroup::new(root.clone(), MAP, usize::MAX, None).child_slot();
        let below = ChildGroup::new(child.clone(), MAP, usize::MAX, Some(&child_slot)).child_slot();
        below.set_waiting(true);
        assert!(child.is_parked(MAP) && !root.is_parked(MAP), "whether the child waits is for the child to say");
        child_slot.set_waiting(true);
        assert!(root.is_parked(MAP));
        below.set_waiting(false);
        assert!(!root.is_parked(MAP), "though the child has not found out");
    }

    #[test]
    fn children_that_wait_for_their_turn_are_not_waited_for() {
        let idle = Arc::new(IdleExecutions::default());
        let siblings = ChildGroup::new(idle.clone(), MAP, 1, None);
        let (one, other) = (siblings.child_slot(), siblings.child_slot());
        one.set_waiting(true);
        assert!(idle.is_parked(MAP), "the other cannot begin");
        drop(one);
        assert!(!idle.is_parked(MAP), "now it can");
        other.set_waiting(true);
        assert!(idle.is_parked(MAP));
    }
}
