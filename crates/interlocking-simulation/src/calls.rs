//! The log entries for an agent's calls.

use crate::asked::Said;
use interlocking_agents::{AgentErrorKind, Conversation, Nudges, SessionError, SessionId, SessionOp, Usage};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::By;
use serde_json::Value;

/// A call of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) run: RunId,
    pub(crate) by: By,
    pub(crate) session: SessionOp,
    pub(crate) prompted: Prompted,
    /// How many calls are in progress in the process, including this one.
    pub(crate) open: usize,
}

/// A call that ended and was not dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Returned {
    pub(crate) run: RunId,
    pub(crate) by: By,
    pub(crate) ended: Ended,
    /// The session that the agent reports.
    pub(crate) session: Option<SessionId>,
    pub(crate) usage: Usage,
}

/// Which prompt an agent is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prompted {
    /// The node's own.
    First,
    Correction,
    Reminder,
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    WithBadOutput,
    WithoutOutput,
    /// Interrupted.
    Interrupted,
    /// An error of the provider, which may say how many milliseconds to wait.
    Stumbled(Option<u64>),
    /// The agent does not know the session.
    Unknown,
    Failed,
}

impl Prompted {
    pub(crate) fn of(prompt: &str) -> Self {
        match prompt {
            Nudges::PROMPT => Self::Reminder,
            other if other.starts_with(Conversation::CORRECTION_PROMPT) => Self::Correction,
            _ => Self::First,
        }
    }
}

impl Ended {
    pub(crate) fn of_output(output: Option<&Value>) -> Self {
        match output {
            None => Self::WithoutOutput,
            Some(output) if serde_json::from_value::<Said>(output.clone()).is_ok() => Self::Well,
            Some(_) => Self::WithBadOutput,
        }
    }

    pub(crate) fn of_error(kind: &AgentErrorKind) -> Self {
        match kind {
            AgentErrorKind::RateLimited { retry_after } => {
                Self::Stumbled(retry_after.map(|after| after.as_millis() as u64))
            }
            AgentErrorKind::Overloaded | AgentErrorKind::Connection { .. } => Self::Stumbled(None),
            AgentErrorKind::Session(SessionError::Unknown { .. }) => Self::Unknown,
            AgentErrorKind::Cancelled => Self::Interrupted,
            _ => Self::Failed,
        }
    }
}
