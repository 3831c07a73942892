//! Stops single executions that run as tasks of their own.
//!
//! A task is on its own once it is spawned: nobody holds a handle to it, so it is freed where and when it ends, and not
//! later, by the executor, from memory that has gone cold. What a handle could do, abort it, is done here: a task looks
//! whether it is stopped before it begins and whenever it has to wait.

use interlocking_core::frontier::Execution;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Which executions of a run are stopped, and which would like to know.
#[derive(Default)]
pub(crate) struct Stops {
    /// Whether anything ever was: most runs stop nothing, and then no task that begins needs the lock.
    any: AtomicBool,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    /// All are.
    all: bool,
    /// What is stopped and has not completed has no waker; what waits has one.
    executions: HashMap<Execution, Option<Waker>>,
}

/// Resolves once its execution is stopped.
pub(crate) struct Stopped<'run> {
    stops: &'run Stops,
    execution: Execution,
}

impl Stops {
    /// Stops an execution.
    pub(crate) fn stop(&self, execution: Execution) {
        let waiting = self.lock().executions.insert(execution, None);
        self.any.store(true, Ordering::Release);
        waiting.flatten().into_iter().for_each(Waker::wake);
    }

    /// Stops every execution, those that are not known yet as well.
    pub(crate) fn stop_all(&self) {
        let mut list = self.lock();
        list.all = true;
        let waiting = list.executions.iter_mut().filter_map(|(execution, waker)| Some((*execution, waker.take()?)));
        let mut waiting: Vec<(Execution, Waker)> = waiting.collect();
        drop(list);
        self.any.store(true, Ordering::Release);
        // In an order of their own, and not in that of the map, so that runs repeat themselves.
        waiting.sort_unstable_by_key(|(execution, _)| (execution.node, execution.visit, execution.attempt));
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Whether an execution is stopped.
    #[inline]
    pub(crate) fn is_stopped(&self, execution: Execution) -> bool {
        self.any.load(Ordering::Acquire) && self.lock().is_stopped(execution)
    }

    /// Forgets an execution that has completed.
    pub(crate) fn forget(&self, execution: Execution) {
        if self.any.load(Ordering::Acquire) {
            self.lock().executions.remove(&execution);
        }
    }

    /// Waits until an execution is stopped.
    pub(crate) fn stopped(&self, execution: Execution) -> Stopped<'_> {
        Stopped { stops: self, execution }
    }

    /// What this guards is whole between two statements, whoever panics.
    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn is_stopped(&self, execution: Execution) -> bool {
        self.all || matches!(self.executions.get(&execution), Some(None))
    }
}

impl Future for Stopped<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut list = self.stops.lock();
        if list.is_stopped(self.execution) {
            return Poll::Ready(());
        }
        match list.executions.entry(self.execution).or_default() {
            Some(waker) => waker.clone_from(context.waker()),
            unknown => *unknown = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let mut list = self.stops.lock();
        if let Some(Some(_)) = list.executions.get(&self.execution) {
            list.executions.remove(&self.execution);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    const ONE: Execution = Execution { node: 1, visit: 1, attempt: 1 };
    const OTHER: Execution = Execution { node: 1, visit: 2, attempt: 1 };

    fn poll(stopped: Pin<&mut Stopped<'_>>) -> bool {
        stopped.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn only_what_is_stopped_is_stopped() {
        let stops = Stops::default();
        let (mut one, mut other) = (pin!(stops.stopped(ONE)), pin!(stops.stopped(OTHER)));
        assert!(!poll(one.as_mut()) && !poll(other.as_mut()));
        stops.stop(ONE);
        assert!(poll(one.as_mut()) && !poll(other.as_mut()));
        assert!(stops.is_stopped(ONE) && !stops.is_stopped(OTHER));
        stops.forget(ONE);
        assert!(!stops.is_stopped(ONE), "it has landed");
    }

    #[test]
    fn a_stop_outlives_whoever_waited_for_it() {
        let stops = Stops::default();
        let mut waited = Box::pin(stops.stopped(ONE));
        assert!(!poll(waited.as_mut()));
        stops.stop(ONE);
        drop(waited);
        assert!(stops.is_stopped(ONE));
        drop(stops.stopped(OTHER));
        assert_eq!(stops.lock().executions.len(), 1, "what waits no longer is not listed");
    }

    #[test]
    fn stopping_all_stops_what_is_not_known_yet() {
        let stops = Stops::default();
        let mut one = pin!(stops.stopped(ONE));
        assert!(!poll(one.as_mut()));
        stops.stop_all();
        assert!(poll(one) && stops.is_stopped(OTHER));
    }
}
