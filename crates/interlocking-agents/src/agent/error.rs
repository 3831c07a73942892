//! How a turn fails, and what to do about it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::agent::usage::Usage;
use crate::cassette::error::CassetteError;
use crate::drivers::shortened::{LONGEST_REASON, shorten};
use crate::real_calls::Forbidden;
use crate::schema::SchemaViolation;
use crate::scripted::action_error::ActionError;
use crate::scripted::duration::shown;
use crate::scripted::no_match::NoMatch;
use crate::sessions::session::{SessionId, SessionOpKind};
use crate::sessions::{SessionError, SessionUse};

/// A turn that failed: the cause, the session it ran in, and what it had cost by then.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[error("{kind}")]
pub struct AgentError {
    /// What went wrong.
    pub kind: Box<AgentErrorKind>,
    /// The session, if it had been started; it still exists and contains the conversation so far.
    pub session: Option<SessionId>,
    /// What was used up, all rounds together.
    pub usage: Usage,
}

/// What went wrong with a turn.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentErrorKind {
    /// The session cannot be used.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The output stayed invalid through all correction rounds.
    #[error("the output is still invalid after {corrections} correction rounds: {}", listed(violations))]
    OutputInvalid {
        /// How many correction rounds there were.
        corrections: u32,
        /// What is wrong with the last output.
        violations: Vec<SchemaViolation>,
        /// The last output, if there was any. If the output was a [`Decision`](crate::Decision) that maps to no value,
        /// the decision itself.
        output: Option<Value>,
        /// The last text, if there was any.
        text: Option<String>,
    },
    /// The agent does not support this session operation.
    #[error("agent `{agent}` cannot {operation} a session")]
    Unsupported {
        /// [`Agent::name`](crate::Agent::name).
        agent: String,
        /// The operation that was requested.
        operation: SessionOpKind,
    },
    /// The provider wants fewer requests.
    #[error("the provider limits the rate of requests")]
    RateLimited {
        /// How long the provider said to wait.
        retry_after: Option<Duration>,
    },
    /// The provider has a problem of its own (HTTP 5xx).
    #[error("the provider is overloaded or broken")]
    Overloaded,
    /// The provider could not be reached.
    #[error("no connection to the provider: {reason}")]
    Connection {
        /// The reason as the agent reports it.
        reason: String,
    },
    /// The provider refuses the key, the account or the model.
    #[error("the provider refuses the request: {reason}")]
    Refused {
        /// The reason as the provider reports it.
        reason: String,
    },
    /// The prompt, with the session's context, does not fit the model.
    #[error("the prompt is too long for the model")]
    PromptTooLong,
    /// The agent used up the steps it is allowed in one turn.
    #[error("the agent reached its limit of steps in one turn")]
    StepLimit,
    /// The agent used up the money it is allowed in one turn.
    #[error("the agent reached its limit of money in one turn")]
    BudgetLimit,
    /// The agent cannot run as it is set up.
    #[error("the agent is not set up: {reason}")]
    Configuration {
        /// What is missing or wrong.
        reason: String,
    },
    /// The agent's program ended without an answer.
    #[error("the agent ended without an answer ({}): {reason}", exit_code(exit))]
    Crashed {
        /// The program's exit code; none when a signal ended it.
        exit: Option<i32>,
        /// The end of the program's standard error.
        reason: String,
    },
    /// The turn took longer than it may.
    #[error("the turn took longer than {}", shown(*limit))]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The agent did not begin: it showed no activity since it was started.
    #[error("the agent showed no activity within {} of its start", shown(*limit))]
    NoFirstEvent {
        /// The limit.
        limit: Duration,
    },
    /// The agent showed no activity for too long.
    #[error("the agent showed no activity for {}{}", shown(*limit), reminded(*nudges))]
    Idle {
        /// The limit.
        limit: Duration,
        /// How often it had been [reminded](crate::Nudges) before.
        #[serde(default)]
        nudges: u32,
    },
    /// The agent ended its turn without an output, even after all [reminders](crate::Nudges).
    #[error("the agent gave no decision{}", reminded(*nudges))]
    NoDecision {
        /// How often it was reminded.
        nudges: u32,
        /// The last text, if there was any.
        text: Option<String>,
    },
    /// The agent was not called: see [`CallGate`](crate::CallGate).
    #[error("the agent was not called: {reason}")]
    CallRefused {
        /// The reason.
        reason: String,
    },
    /// Calls of models are [forbidden](crate::real_calls).
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The call could not be [recorded or replayed](crate::cassette).
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// The turn was [interrupted](crate::Interrupt).
    #[error("the turn was interrupted")]
    Cancelled,
    /// The script has no turn for this prompt.
    #[error(transparent)]
    NoMatch(#[from] NoMatch),
    /// An action of the script could not be carried out.
    #[error(transparent)]
    Action(#[from] ActionError),
    /// Any other failure, reported by a custom agent.
    #[error("{message}")]
    Other {
        /// What failed, where, and what to do about it.
        message: String,
        /// Whether the same turn could succeed later.
        transient: bool,
    },
}

/// What to do about a failed turn. The caller limits the number of attempts and waits between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disposition {
    /// Run the same turn again.
    Retry {
        /// Not before this much time has passed, if the provider said so.
        after: Option<Duration>,
    },
    /// Run the turn again in the session it had started, with [`ContinueFrom`](crate::SessionOp::ContinueFrom): the
    /// session contains the work done so far.
    ResumeSession {
        /// The session to continue.
        session: SessionId,
        /// Not before this much time has passed, if the provider said so.
        after: Option<Duration>,
    },
    /// Running the same turn again would fail again.
    GiveUp,
}

impl AgentError {
    /// A failure before anything was started or spent.
    pub fn new(kind: impl Into<AgentErrorKind>) -> Self {
        Self { kind: Box::new(kind.into()), session: None, usage: Usage::default() }
    }

    /// The same failure with the session it happened in and what it had used up.
    pub fn in_session(self, session: SessionId, usage: Usage) -> Self {
        Self { session: Some(session), usage, ..self }
    }

    /// The same error with its text shortened to a readable length: some programs put whole answers into their error
    /// messages.
    pub(crate) fn shortened(mut self) -> Self {
        match &mut *self.kind {
            AgentErrorKind::Connection { reason: words }
            | AgentErrorKind::Refused { reason: words }
            | AgentErrorKind::Configuration { reason: words }
            | AgentErrorKind::Crashed { reason: words, .. }
            | AgentErrorKind::CallRefused { reason: words }
            | AgentErrorKind::Other { message: words, .. } => shorten(words, LONGEST_REASON),
            _ => {}
        }
        self
    }

    /// What to do about it.
    pub fn disposition(&self) -> Disposition {
        match self.kind.remedy() {
            Remedy::None => Disposition::GiveUp,
            Remedy::Again { after } => match &self.session {
                Some(session) => Disposition::ResumeSession { session: session.clone(), after },
                None => Disposition::Retry { after },
            },
        }
    }
}

enum Remedy {
    Again { after: Option<Duration> },
    None,
}

impl AgentErrorKind {
    pub(crate) fn configuration(reason: impl Into<String>) -> Self {
        Self::Configuration { reason: reason.into() }
    }

    /// Whether the failure is the provider's: it limits the rate, is overloaded or cannot be reached. The turn is not
    /// the cause, and other turns with the same provider are likely to fail too.
    pub fn is_provider_failure(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Overloaded | Self::Connection { .. })
    }

    fn remedy(&self) -> Remedy {
        match self {
            Self::RateLimited { retry_after } => Remedy::Again { after: *retry_after },
            Self::Session(SessionError::Busy { used_by: SessionUse::Fork, .. })
            | Self::Overloaded
            | Self::Connection { .. }
            | Self::StepLimit
            | Self::Crashed { .. }
            | Self::TimedOut { .. }
            | Self::NoFirstEvent { .. }
            | Self::Idle { .. }
            | Self::Other { transient: true, .. } => Remedy::Again { after: None },
            // Only the user can raise the budget, all correction rounds are used up, and the other failures would
            // repeat.
            Self::Session(_)
            | Self::OutputInvalid { .. }
            | Self::NoDecision { .. }
            | Self::CallRefused { .. }
            | Self::Unsupported { .. }
            | Self::Refused { .. }
            | Self::PromptTooLong
            | Self::BudgetLimit
            | Self::Configuration { .. }
            | Self::Forbidden(_)
            | Self::Cassette(_)
            | Self::Cancelled
            | Self::NoMatch(_)
            | Self::Action(_)
            | Self::Other { transient: false, .. } => Remedy::None,
        }
    }
}

impl<K: Into<AgentErrorKind>> From<K> for AgentError {
    fn from(kind: K) -> Self {
        Self::new(kind)
    }
}

fn listed(violations: &[SchemaViolation]) -> String {
    let mut list = violations.iter().map(SchemaViolation::to_string).collect::<Vec<_>>().join("; ");
    shorten(&mut list, LONGEST_REASON);
    list
}

fn reminded(nudges: u32) -> String {
    match nudges {
        0 => String::new(),
        1 => " after one reminder".to_owned(),
        _ => format!(" after {nudges} reminders"),
    }
}

fn exit_code(exit: &Option<i32>) -> String {
    match exit {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    }
}
