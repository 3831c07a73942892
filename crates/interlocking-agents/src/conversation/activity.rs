//! Tracks when a call of an agent last showed activity.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The activity of one call.
#[derive(Debug)]
pub(crate) struct Activity {
    state: Mutex<State>,
    /// Notified whenever the agent finishes something it worked on.
    work_ended: Notify,
}

#[derive(Debug)]
struct State {
    last: Instant,
    working: u32,
}

/// A guard that marks the agent as working; see [`TurnContext::working`](crate::TurnContext::working).
#[derive(Debug)]
#[must_use = "the agent works for as long as this lives"]
pub struct Working<'a>(&'a Activity);

impl Activity {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { last: Instant::now(), working: 0 }), work_ended: Notify::new() }
    }

    /// Records activity.
    pub(crate) fn record(&self) {
        self.state().last = Instant::now();
    }

    pub(crate) fn start_work(&self) -> Working<'_> {
        self.state().working += 1;
        Working(self)
    }

    /// Resolves when there was no activity for `limit`.
    pub(crate) async fn until_idle(&self, limit: Duration) {
        loop {
            let (due, working) = {
                let state = self.state();
                (state.last + limit, state.working > 0)
            };
            if working {
                // If the work ends between the check above and this wait, `notify_one` stores a permit. There is only
                // one waiter, so it is not lost.
                self.work_ended.notified().await;
            } else if due <= Instant::now() {
                return;
            } else {
                tokio::time::sleep_until(due).await;
            }
        }
    }

    /// The state is consistent after every statement, so a poisoned lock can be used.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.working -= 1;
        state.last = Instant::now();
        drop(state);
        self.0.work_ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    async fn pass(seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_counted_from_the_last_sign_of_life() {
        let (start, activity) = (Instant::now(), Activity::new());
        tokio::join!(activity.until_idle(LIMIT), async {
            pass(59).await;
            activity.record();
            pass(59).await;
            activity.record();
        });
        assert_eq!(start.elapsed(), Duration::from_secs(59 + 59 + 60));
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_no_silence_however_long_it_takes() {
        let (start, activity) = (Instant::now(), Activity::new());
        tokio::join!(activity.until_idle(LIMIT), async {
            pass(10).await;
            let (outer, inner) = (activity.start_work(), activity.start_work());
            pass(1_000).await;
            drop(inner);
            pass(1_000).await;
            drop(outer);
        });
        assert_eq!(start.elapsed(), Duration::from_secs(2_010 + 60));
    }
}
