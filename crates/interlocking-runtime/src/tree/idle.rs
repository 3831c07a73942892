//! Which executions of a run wait for a person and for nothing else, or are held back for what the run may use is used up.
//!
//! A run is waiting when every execution that it has is parked. A child that is waiting says so to the map node that it
//! belongs to; that one is parked when all its children are.

use interlocking_core::frontier::Execution;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// The parked executions of one run.
#[derive(Default)]
pub(crate) struct Parking {
    parked: Mutex<HashSet<Execution>>,
    /// Those that do not go on in this process, whatever becomes of their children.
    held_back: Mutex<HashSet<Execution>>,
    /// Told of every change; the run's driver listens.
    pub(crate) changed: Notify,
}

/// The children of one map execution.
pub(crate) struct Siblings {
    parking: Arc<Parking>,
    execution: Execution,
    /// How many may run at once: the others cannot take the node further before one of these has ended.
    concurrency: usize,
    /// The place of their run among its own siblings, if it is a child itself.
    above: Option<Weak<Berth>>,
    /// How many have not ended, and how many of them are waiting.
    counts: Mutex<(usize, usize)>,
}

/// One child's place among its siblings. It has ended when this is dropped.
pub(crate) struct Berth {
    siblings: Arc<Siblings>,
    waiting: Mutex<bool>,
}

/// A parked execution. It goes on when this is dropped.
pub(crate) struct Parked<'run> {
    parking: &'run Parking,
    execution: Execution,
}

impl Parking {
    pub(crate) fn park(&self, execution: Execution) -> Parked<'_> {
        self.set(execution, true);
        Parked { parking: self, execution }
    }

    /// Parks an execution that does not go on in this process.
    pub(crate) fn hold_back(&self, execution: Execution) {
        lock(&self.held_back).insert(execution);
        self.set(execution, true);
    }

    /// Takes an execution off before it has noticed that it may go on.
    pub(crate) fn leave(&self, execution: Execution) {
        self.set(execution, false);
    }

    /// How many executions are parked.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn is_parked(&self, execution: Execution) -> bool {
        self.lock().contains(&execution)
    }

    fn set(&self, execution: Execution, parked: bool) {
        let mut set = self.lock();
        let changed = match parked {
            true => set.insert(execution),
            false => !lock(&self.held_back).contains(&execution) && set.remove(&execution),
        };
        drop(set);
        if changed {
            self.changed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Execution>> {
        lock(&self.parked)
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.parking.set(self.execution, false);
    }
}

impl Siblings {
    pub(crate) fn new(
        parking: Arc<Parking>,
        execution: Execution,
        concurrency: usize,
        above: Option<&Arc<Berth>>,
    ) -> Arc<Self> {
        Arc::new(Self { parking, execution, concurrency, above: above.map(Arc::downgrade), counts: Mutex::default() })
    }

    /// One more child.
    pub(crate) fn berth(self: &Arc<Self>) -> Arc<Berth> {
        self.count(1, 0);
        Arc::new(Berth { siblings: self.clone(), waiting: Mutex::new(false) })
    }

    fn count(&self, alive: isize, waiting: isize) {
        let mut counts = lock(&self.counts);
        *counts = (counts.0.saturating_add_signed(alive), counts.1.saturating_add_signed(waiting));
        let all_wait = counts.0 > 0 && counts.0.min(self.concurrency) == counts.1;
        self.parking.set(self.execution, all_wait);
        // Known all the way up at once: the drivers between may find out only after the whole tree was taken for waiting.
        if !all_wait && let Some(above) = self.above.as_ref().and_then(Weak::upgrade) {
            above.set_waiting(false);
        }
    }
}

impl Berth {
    /// Says whether the child waits for a person and for nothing else.
    pub(crate) fn set_waiting(&self, waiting: bool) {
        let mut known = lock(&self.waiting);
        if *known != waiting {
            *known = waiting;
            self.siblings.count(0, if waiting { 1 } else { -1 });
        }
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        let waited = *lock(&self.waiting);
        self.siblings.count(-1, -isize::from(waited));
    }
}

/// What these locks guard is whole between two statements, whoever panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: Execution = Execution { node: 0, visit: 1, attempt: 1 };

    #[test]
    fn a_map_is_parked_while_all_its_children_wait() {
        let parking = Arc::new(Parking::default());
        let siblings = Siblings::new(parking.clone(), MAP, usize::MAX, None);
        let (one, other) = (siblings.berth(), siblings.berth());
        one.set_waiting(true);
        assert!(!parking.is_parked(MAP), "the other goes on");
        other.set_waiting(true);
        assert!(parking.is_parked(MAP));
        one.set_waiting(false);
        assert!(!parking.is_parked(MAP), "it was answered");
        drop(one);
        assert!(parking.is_parked(MAP), "it has ended, and the other waits");
        drop(other);
        assert_eq!(parking.count(), 0, "its children have ended, so it goes on");
    }

    #[test]
    fn a_map_that_is_held_back_is_so_whatever_its_children_do() {
        let parking = Arc::new(Parking::default());
        let siblings = Siblings::new(parking.clone(), MAP, usize::MAX, None);
        let (one, other) = (siblings.berth(), siblings.berth());
        parking.hold_back(MAP);
        other.set_waiting(true);
        drop(one);
        drop(other);
        assert!(parking.is_parked(MAP), "its children end after it");
    }

    #[test]
    fn a_child_that_goes_on_is_known_all_the_way_up() {
        let (root, child) = (Arc::new(Parking::default()), Arc::new(Parking::default()));
        let berth = Siblings::new(root.clone(), MAP, usize::MAX, None).berth();
        let below = Siblings::new(child.clone(), MAP, usize::MAX, Some(&berth)).berth();
        below.set_waiting(true);
        assert!(child.is_parked(MAP) && !root.is_parked(MAP), "whether the child waits is for the child to say");
        berth.set_waiting(true);
        assert!(root.is_parked(MAP));
        below.set_waiting(false);
        assert!(!root.is_parked(MAP), "though the child has not found out");
    }

    #[test]
    fn children_that_wait_for_their_turn_are_not_waited_for() {
        let parking = Arc::new(Parking::default());
        let siblings = Siblings::new(parking.clone(), MAP, 1, None);
        let (one, other) = (siblings.berth(), siblings.berth());
        one.set_waiting(true);
        assert!(parking.is_parked(MAP), "the other cannot begin");
        drop(one);
        assert!(!parking.is_parked(MAP), "now it can");
        other.set_waiting(true);
        assert!(parking.is_parked(MAP));
    }
}
