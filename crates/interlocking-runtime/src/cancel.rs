//! Stops runs from outside: permanently, or so that they can be resumed.

use crate::mutex::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, MutexGuard, Weak};
use tokio::sync::Notify;

/// Stops every run that was given a clone of it, once and permanently.
///
/// Node executions are dropped at the point where they wait, and agents kill the programs that they started. The run ends
/// as [`Outcome::Cancelled`](crate::Outcome::Cancelled), or, where it was [suspended](Self::suspend), as
/// [`Outcome::Suspended`](crate::Outcome::Suspended).
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<State>);

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
/// Cancelled, and the runs may be resumed.
const SUSPENDED: u8 = 2;

#[derive(Debug, Default)]
struct State {
    /// [`RUNNING`], [`CANCELLED`] or [`SUSPENDED`]. Once it is not the first, it never changes.
    stage: AtomicU8,
    notify: Notify,
    children: Mutex<Vec<Weak<Self>>>,
}

impl CancelToken {
    /// A token that is not cancelled yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the runs. Runs that were suspended before stay suspended.
    pub fn cancel(&self) {
        self.0.stop(CANCELLED);
    }

    /// A new token that is cancelled together with this one, and can be cancelled alone. Cancelling it does not cancel
    /// this one.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::new();
        let mut children = self.0.children();
        children.retain(|child| child.strong_count() > 0);
        children.push(Arc::downgrade(&child.0));
        drop(children);
        // Read after the child is listed, so that no cancellation is lost between the two.
        match self.0.stage.load(Ordering::Acquire) {
            RUNNING => {}
            stage => child.0.stop(stage),
        }
        child
    }

    /// Stops the runs without recording that as their end: [`Run::resume`](crate::Run::resume) continues them. Node executions
    /// that run now are dropped and will be repeated.
    pub fn suspend(&self) {
        self.0.stop(SUSPENDED);
    }

    /// Whether the token is cancelled or suspended.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.stage.load(Ordering::Acquire) != RUNNING
    }

    /// Whether the token was [suspended](Self::suspend) without having been cancelled before.
    pub fn is_suspended(&self) -> bool {
        self.0.stage.load(Ordering::Acquire) == SUSPENDED
    }

    /// Resolves when the token is cancelled or suspended; at once if that has happened.
    pub async fn cancelled(&self) {
        // Created before the flag is read, so that no cancellation is lost between the two.
        let notified = self.0.notify.notified();
        if !self.is_cancelled() {
            notified.await;
        }
    }
}

impl State {
    /// Stops the runs in this way, unless they are stopped already.
    fn stop(&self, stage: u8) {
        if self.stage.compare_exchange(RUNNING, stage, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return;
        }
        // Notified before the children are stopped: when a run sees a child stopped, the run knows that it is stopped
        // itself.
        self.notify.notify_waiters();
        // The list's lock is released before the children are stopped, so that nothing they do runs under it.
        let children: Vec<_> = self.children().iter().filter_map(Weak::upgrade).collect();
        children.iter().for_each(|child| child.stop(stage));
    }

    fn children(&self) -> MutexGuard<'_, Vec<Weak<Self>>> {
        self.children.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancellation_reaches_children_and_never_parents() {
        let parent = CancelToken::new();
        let (child, other) = (parent.child(), parent.child());
        let grandchild = child.child();
        child.cancel();
        assert!(child.is_cancelled() && grandchild.is_cancelled());
        assert!(!parent.is_cancelled() && !other.is_cancelled());
        parent.cancel();
        assert!(other.is_cancelled());
        assert!(parent.child().is_cancelled(), "one that comes late");
    }

    #[test]
    fn a_suspension_is_one_for_children_too_unless_they_had_been_cancelled() {
        let parent = CancelToken::new();
        let (child, cancelled) = (parent.child(), parent.child());
        cancelled.cancel();
        parent.suspend();
        assert!(child.is_suspended() && child.is_cancelled());
        assert!(!cancelled.is_suspended());
        let late = parent.child();
        assert!(late.is_suspended() && late.is_cancelled());
    }

    /// When a token is cancelled and suspended at once, the token and all its children end with the same one of the two.
    #[test]
    fn children_are_stopped_as_their_parents_are() {
        for _ in 0..2_000 {
            let parent = CancelToken::new();
            let children: Vec<_> = (0..20).map(|_| parent.child()).collect();
            let start = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    start.wait();
                    parent.suspend();
                });
                start.wait();
                parent.cancel();
            });
            assert!(children.iter().all(|child| child.is_cancelled()));
            assert!(children.iter().all(|child| child.is_suspended() == parent.is_suspended()));
        }
    }

    #[test]
    fn children_that_are_gone_are_not_kept() {
        let parent = CancelToken::new();
        for _ in 0..100 {
            drop(parent.child());
        }
        assert!(parent.0.children().len() <= 1);
    }
}
