//! Stopping a run from outside: for good, or so that it can be taken up again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// Stops every run that was given a clone of it, once and for good.
///
/// Running nodes are dropped where they wait; agents kill what they started. The run ends as
/// [`Outcome::Cancelled`](crate::Outcome::Cancelled), or, where it was [suspended](Self::suspend), as
/// [`Outcome::Suspended`](crate::Outcome::Suspended).
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    requested: AtomicBool,
    /// Whether the runs may be taken up again.
    suspended: AtomicBool,
    notify: Notify,
    children: Mutex<Vec<Weak<Self>>>,
}

impl Cancel {
    /// Not requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the stop. Runs that are suspended already stay so.
    pub fn request(&self) {
        self.0.request();
    }

    /// One that is requested with this, or by itself.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::new();
        let mut children = self.0.children();
        children.retain(|child| child.strong_count() > 0);
        children.push(Arc::downgrade(&child.0));
        drop(children);
        // Looked at once the child is listed, so that no request falls between the two.
        match (self.is_requested(), self.is_suspended()) {
            (_, true) => child.suspend(),
            (true, false) => child.request(),
            (false, false) => {}
        }
        child
    }

    /// Asks for a stop that a journal does not note as the run's end: [`Run::resume`](crate::Run::resume) continues it.
    /// What runs now is cut off and will be repeated.
    pub fn suspend(&self) {
        self.0.suspend();
    }

    /// Whether somebody asked.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::Acquire)
    }

    /// Whether somebody asked for a [suspension](Self::suspend), and nobody for more before that.
    pub fn is_suspended(&self) -> bool {
        self.0.suspended.load(Ordering::Acquire)
    }

    /// Resolves when somebody asks; at once if that has happened.
    pub async fn requested(&self) {
        let notified = self.0.notify.notified();
        let mut notified = std::pin::pin!(notified);
        // Registered before the flag is read, so that no request falls between the two.
        notified.as_mut().enable();
        if !self.is_requested() {
            notified.await;
        }
    }
}

impl State {
    fn request(&self) {
        self.requested.store(true, Ordering::Release);
        self.notify.notify_waiters();
        self.each_child(Self::request);
    }

    fn suspend(&self) {
        if !self.requested.load(Ordering::Acquire) {
            self.suspended.store(true, Ordering::Release);
        }
        self.each_child(Self::suspend);
        self.request();
    }

    fn each_child(&self, tell: fn(&Self)) {
        // Told when the list is free again: what they do is theirs.
        let children: Vec<_> = self.children().iter().filter_map(Weak::upgrade).collect();
        children.iter().for_each(|child| tell(child));
    }

    /// What this guards is whole between two statements, whoever panics.
    fn children(&self) -> MutexGuard<'_, Vec<Weak<Self>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reaches_children_and_never_parents() {
        let parent = Cancel::new();
        let (child, other) = (parent.child(), parent.child());
        let grandchild = child.child();
        child.request();
        assert!(child.is_requested() && grandchild.is_requested());
        assert!(!parent.is_requested() && !other.is_requested());
        parent.request();
        assert!(other.is_requested());
        assert!(parent.child().is_requested(), "one that comes late");
    }

    #[test]
    fn a_suspension_is_one_for_children_too_unless_they_had_been_requested() {
        let parent = Cancel::new();
        let (child, cancelled) = (parent.child(), parent.child());
        cancelled.request();
        parent.suspend();
        assert!(child.is_suspended() && child.is_requested());
        assert!(!cancelled.is_suspended());
        let late = parent.child();
        assert!(late.is_suspended() && late.is_requested());
    }

    #[test]
    fn children_that_are_gone_are_not_kept() {
        let parent = Cancel::new();
        for _ in 0..100 {
            drop(parent.child());
        }
        assert!(parent.0.children().len() <= 1);
    }
}
