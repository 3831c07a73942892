//! Asking a running turn to end by itself.

use std::sync::Arc;

use tokio::sync::watch;

/// Asks every conversation that holds a clone of it to stop, once and for good.
///
/// Dropping a turn's future stops it too, and at once; then nobody learns what it had cost by then. An interrupted
/// agent ends its program in order and fails with [`Cancelled`](crate::AgentErrorKind::Cancelled), whose error says
/// what was used up. Give it a moment, then drop the future.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    requested: Arc<watch::Sender<bool>>,
}

impl Interrupt {
    /// Not requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the stop.
    pub fn request(&self) {
        self.requested.send_replace(true);
    }

    /// Whether somebody asked.
    pub fn is_requested(&self) -> bool {
        *self.requested.borrow()
    }

    /// Resolves when somebody asks; at once if that has happened.
    pub async fn requested(&self) {
        let mut receiver = self.requested.subscribe();
        // The sender lives in `self`, so the channel cannot close while this waits.
        let _ = receiver.wait_for(|requested| *requested).await;
    }
}
