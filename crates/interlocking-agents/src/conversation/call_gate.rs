//! Who is asked before an agent is called: for programs that bound many conversations together.

use async_trait::async_trait;
use thiserror::Error;

use crate::agent::error::AgentError;
use crate::agent::usage::Usage;

/// Is asked before each call of an agent, and told how it ended. First tries, corrections, reminders and repetitions are
/// all calls.
///
/// Share one between conversations to bound them together: how many calls there are at once and in all, what they may
/// cost, and when a provider that asked for fewer requests is called again.
#[async_trait]
pub trait CallGate: Send + Sync {
    /// Waits until the agent called `agent` may be called.
    ///
    /// # Errors
    ///
    /// It may not be called at all; the turn ends with [`CallRefused`](crate::AgentErrorKind::CallRefused).
    async fn acquire(&self, agent: &str) -> Result<Box<dyn CallPermit + '_>, CallRefused>;
}

/// One call that may be made. Dropped without a word when the call is interrupted.
pub trait CallPermit: Send {
    /// The call has ended: with this usage, or with this error, whose usage is that of the one call.
    ///
    /// True if it failed and shall be made again: once there is another permit, and as the error's
    /// [disposition](AgentError::disposition) says. An error that says to give up is given up all the same.
    fn ended(self: Box<Self>, outcome: Result<Usage, &AgentError>) -> bool;
}

/// A call may not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct CallRefused {
    /// Why not.
    pub reason: String,
}
