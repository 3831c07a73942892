//! What others have written to a run, as its handlers see it.

use crate::journal::{Journal, JournalError};
use crate::mutex::Mutex;
use interlocking_core::run_id::RunId;
use tokio::sync::Notify;

/// What others have written to a run.
#[derive(Default)]
pub(crate) struct Mail {
    state: Mutex<Seen>,
    /// Told of every change.
    changed: Notify,
}

/// How far the driver has come.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number of the last letter that was taken up.
    last_letter: u64,
    /// How many messages wait to be handled.
    messages: usize,
}

impl Mail {
    /// Notes that letters were taken up, and how many messages wait to be handled.
    pub(crate) fn note(&self, last_letter: u64, messages: usize) {
        *self.state.lock() = Seen { last_letter, messages };
        self.changed.notify_waiters();
    }

    /// Whether a message waits to be handled, or was written to the run and is about to be taken up, which is waited for.
    pub(crate) async fn is_any(&self, journal: &dyn Journal, run: &RunId) -> Result<bool, JournalError> {
        loop {
            let mut told = std::pin::pin!(self.changed.notified());
            // Registered before it is looked, so that nothing falls between the two.
            told.as_mut().enable();
            let Seen { last_letter, messages } = *self.state.lock();
            if messages > 0 {
                return Ok(true);
            }
            if journal.letters(run, last_letter).await?.is_empty() {
                return Ok(false);
            }
            told.await;
        }
    }
}
