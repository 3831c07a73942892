//! Reminding an agent that is silent, or that does not decide.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::program::StopTimeouts;

/// When and how often an agent is reminded that a decision is wanted.
///
/// It is reminded with [`PROMPT`](Self::PROMPT) when
///
/// - there was no event from it for [`idle`](Self::idle). The call is interrupted; the session continues.
/// - it ended a turn that has a schema without any output. (An output that is wrong is
///   [corrected](crate::Conversation::with_corrections) instead.)
///
/// Both count towards one [`limit`](Self::limit) for each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudges {
    /// How long there may be no event. Time during which the agent [works](crate::TurnContext::working) on something,
    /// such as a command, is not counted. Needs a Tokio runtime with time enabled. `None`: no limit.
    pub idle: Option<Duration>,
    /// How often an agent is reminded in a turn. After the last reminder, idleness ends the turn with
    /// [`Idle`](crate::AgentErrorKind::Idle), and a missing output with
    /// [`NoDecision`](crate::AgentErrorKind::NoDecision). With 0 a missing output is corrected like an invalid one.
    pub limit: u32,
    /// How long an idle agent that was [interrupted](crate::Interrupt) may take to stop and to report what it used up.
    /// Then its future is dropped.
    pub grace: Duration,
}

impl Nudges {
    /// The full prompt of a reminder (V3-135).
    pub const PROMPT: &'static str = "REMINDER: Emit a decision to complete this phase";

    /// No reminders, and no limit on idle time.
    pub const NONE: Self = Self { idle: None, limit: 0, grace: Self::DEFAULT.grace };

    /// Idle after 60 s without an event; three reminders; 10 s of grace.
    pub const DEFAULT: Self = Self { idle: Some(Duration::from_secs(60)), limit: 3, grace: Duration::from_secs(10) };

    /// The same with another idle time; `None` for no limit.
    #[must_use]
    pub const fn with_idle(self, idle: Option<Duration>) -> Self {
        Self { idle, ..self }
    }

    /// The same with another number of reminders.
    #[must_use]
    pub const fn with_limit(self, limit: u32) -> Self {
        Self { limit, ..self }
    }
}

/// A program that stops in its default time is not dropped meanwhile, and its usage counts.
const _: () = assert!(Nudges::DEFAULT.grace.as_millis() > StopTimeouts::DEFAULT.longest().as_millis());

impl Default for Nudges {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why an agent was reminded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NudgeReason {
    /// There was no event from it for too long.
    Idle,
    /// It ended its turn without an output.
    NoDecision,
}
