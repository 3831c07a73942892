//! Asking a running turn to stop.

use std::sync::Arc;

use tokio::sync::watch;

/// Asks every conversation that holds a clone to stop. A request cannot be withdrawn.
///
/// Dropping a turn's future also stops it, at once, but then its cost is not reported. An interrupted agent ends its
/// program in order and fails with [`Cancelled`](crate::AgentErrorKind::Cancelled); the error says what was used up.
/// Give the agent a moment, then drop the future.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    requested: Arc<watch::Sender<bool>>,
}

impl Interrupt {
    /// An interrupt that is not requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests the stop.
    pub fn request(&self) {
        self.requested.send_replace(true);
    }

    /// Whether the stop was requested.
    pub fn is_requested(&self) -> bool {
        *self.requested.borrow()
    }

    /// Resolves when the stop is requested; at once if it already was.
    pub async fn requested(&self) {
        let mut receiver = self.requested.subscribe();
        // The sender lives in `self`, so the channel cannot close while this waits.
        let _ = receiver.wait_for(|requested| *requested).await;
    }
}
