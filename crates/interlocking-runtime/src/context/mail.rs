//! The letters and messages to a run, as its handlers see them.

use crate::journal::{Journal, JournalError};
use crate::mutex::Mutex;
use interlocking_core::run_id::RunId;
use tokio::sync::Notify;

/// The state of the letters and messages to a run.
#[derive(Default)]
pub(crate) struct Mail {
    state: Mutex<Seen>,
    /// Notified of every change.
    changed: Notify,
}

/// How far the driver has read the letters.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number of the last letter that was taken up.
    last_letter: u64,
    /// How many messages wait to be handled.
    messages: usize,
    /// Whether the run has come to its exit, after which no message is handled.
    closed: bool,
}

impl Mail {
    /// Notes that letters were taken up, and how many messages wait to be handled.
    pub(crate) fn note(&self, last_letter: u64, messages: usize) {
        let mut seen = self.state.lock();
        (seen.last_letter, seen.messages) = (last_letter, messages);
        drop(seen);
        self.changed.notify_waiters();
    }

    /// No message is handled from now on.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_waiters();
    }

    /// Whether a message waits to be handled. If the journal has a letter that is not taken up yet, waits until it is.
    pub(crate) async fn is_any(&self, journal: &dyn Journal, run: &RunId) -> Result<bool, JournalError> {
        loop {
            // Created before the state is read, so that no change is missed between the two.
            let changed = self.changed.notified();
            let Seen { last_letter, messages, closed } = *self.state.lock();
            if closed || messages > 0 {
                return Ok(!closed);
            }
            if journal.letters(run, last_letter).await?.is_empty() {
                return Ok(false);
            }
            changed.await;
        }
    }
}
