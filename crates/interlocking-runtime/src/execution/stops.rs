//! Stops single executions that run as tasks of their own.
//!
//! A task has no handle, so that it is freed by the thread on which it ends, while its memory is cached (row "a forked branch"
//! of `docs/book/src/performance.md`). So it cannot be aborted: instead, a task checks here whether it is stopped, before it
//! begins and whenever it has to wait.

use crate::mutex::Mutex;
use interlocking_core::frontier::Execution;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

/// The executions of a run that are stopped, and those that wait to be told.
#[derive(Default)]
pub(crate) struct Stops {
    /// Whether anything was ever stopped. Until then, a task that begins needs no lock.
    any: AtomicBool,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    /// Whether all executions are stopped.
    all: bool,
    /// `None` for an execution that is stopped and has not completed; a waker for one that waits to be told.
    executions: HashMap<Execution, Option<Waker>>,
}

/// Resolves once its execution is stopped.
pub(crate) struct WaitForStop<'run> {
    stops: &'run Stops,
    execution: Execution,
}

impl Stops {
    /// Stops an execution.
    pub(crate) fn stop(&self, execution: Execution) {
        let waiting = self.list.lock().executions.insert(execution, None);
        self.any.store(true, Ordering::Release);
        waiting.flatten().into_iter().for_each(Waker::wake);
    }

    /// Stops every execution, including those that are not known yet.
    pub(crate) fn stop_all(&self) {
        let mut list = self.list.lock();
        list.all = true;
        let waiting = list.executions.iter_mut().filter_map(|(execution, waker)| Some((*execution, waker.take()?)));
        let mut waiting: Vec<(Execution, Waker)> = waiting.collect();
        drop(list);
        self.any.store(true, Ordering::Release);
        // Sorted, so that a simulation with one seed always wakes them in one order.
        waiting.sort_unstable_by_key(|(execution, _)| (execution.node, execution.visit, execution.attempt));
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Whether an execution is stopped.
    #[inline]
    pub(crate) fn is_stopped(&self, execution: Execution) -> bool {
        self.any.load(Ordering::Acquire) && self.list.lock().is_stopped(execution)
    }

    /// Forgets an execution that has completed.
    pub(crate) fn forget(&self, execution: Execution) {
        if self.any.load(Ordering::Acquire) {
            self.list.lock().executions.remove(&execution);
        }
    }

    /// Waits until an execution is stopped.
    pub(crate) fn stopped(&self, execution: Execution) -> WaitForStop<'_> {
        WaitForStop { stops: self, execution }
    }
}

impl List {
    fn is_stopped(&self, execution: Execution) -> bool {
        self.all || matches!(self.executions.get(&execution), Some(None))
    }
}

impl Future for WaitForStop<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut list = self.stops.list.lock();
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

impl Drop for WaitForStop<'_> {
    fn drop(&mut self) {
        let mut list = self.stops.list.lock();
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

    fn poll(stopped: Pin<&mut WaitForStop<'_>>) -> bool {
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
        assert!(!stops.is_stopped(ONE), "it has completed");
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
        assert_eq!(stops.list.lock().executions.len(), 1, "what waits no longer is not listed");
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
