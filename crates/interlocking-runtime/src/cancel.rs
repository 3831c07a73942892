//! Stopping a run from outside: for good, or so that it can be taken up again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
}

impl Cancel {
    /// Not requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the stop. Runs that are suspended already stay so.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::Release);
        self.0.notify.notify_waiters();
    }

    /// Asks for a stop that a journal does not note as the run's end: [`Run::resume`](crate::Run::resume) continues it.
    /// What runs now is cut off and will be repeated.
    pub fn suspend(&self) {
        if !self.is_requested() {
            self.0.suspended.store(true, Ordering::Release);
        }
        self.request();
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

    /// What [`is_requested`](Self::is_requested) reads, for who asks often.
    #[inline]
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0.requested
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
