//! Permission for agent calls: for programs that limit many conversations together.

use async_trait::async_trait;
use thiserror::Error;

use crate::agent::error::AgentError;
use crate::agent::usage::Usage;

/// Permits each call of an agent, and is told the outcome. First attempts, corrections, reminders and retries are all
/// calls.
///
/// Share one gate between conversations to limit them together: the number of calls at once and in total, their cost,
/// and when to call a provider again that asked for fewer requests.
#[async_trait]
pub trait CallGate: Send + Sync {
    /// Waits until the agent named `agent` may be called.
    ///
    /// # Errors
    ///
    /// [`CallRefused`] if the call is not permitted at all; the turn ends with
    /// [`CallRefused`](crate::AgentErrorKind::CallRefused).
    async fn acquire(&self, agent: &str) -> Result<Box<dyn CallPermit + '_>, CallRefused>;
}

/// Permission for one call. If the call's future is dropped, the permit is dropped without a call of
/// [`ended`](Self::ended).
pub trait CallPermit: Send {
    /// Reports the outcome of the call: its usage, or its error with the usage of this one call.
    ///
    /// Returns true if the call failed and is to be made again. It is then made with another permit, as the error's
    /// [disposition](AgentError::disposition) says. An error whose disposition is to give up is not retried in any
    /// case.
    fn ended(self: Box<Self>, outcome: Result<Usage, &AgentError>) -> bool;
}

/// A call that is not permitted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct CallRefused {
    /// The reason.
    pub reason: String,
}
