//! The kinds of faults that can be injected into a call.

use std::time::Duration;

use serde_json::Value;

use crate::agent::error::AgentErrorKind;
use crate::agent::turn::Turn;
use crate::agent::usage::Usage;
use crate::sessions::SessionError;
use crate::sessions::session::SessionOp;

/// A fault that is injected into one call.
///
/// `after_events` counts the events that the agent reports. The first event is its [start](crate::AgentEvent::Started);
/// with 0 the agent is not called at all. After those events the agent is stopped when it next waits for anything, so
/// work that it does without waiting is completed. An agent that reports fewer events is stopped at its end, and its
/// answer is lost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The call begins later by this time, and then runs as usual. There is no activity meanwhile.
    Delay(Duration),
    /// After some events there is no further event and no answer, until the turn is interrupted or dropped.
    Stall {
        /// How many events are reported before.
        after_events: u32,
    },
    /// The provider wants fewer requests (HTTP 429). Several in a row, by [`Rule::times`](crate::faults::Rule::times),
    /// make a storm.
    RateLimited {
        /// How long the provider says to wait.
        retry_after: Option<Duration>,
    },
    /// The provider has a problem of its own (HTTP 5xx).
    Overloaded,
    /// The provider's address refuses the connection.
    ConnectionRefused,
    /// The provider refuses the key, the account or the model (HTTP 401, 403, 404).
    Refused,
    /// The prompt does not fit the model.
    PromptTooLong,
    /// The agent has done its work, but used up its steps before it answered.
    StepLimit,
    /// The connection is cut in the middle of the answer.
    CutStream {
        /// How many events are reported before.
        after_events: u32,
    },
    /// The agent's program ends in the middle of the turn. Work that it has completed remains.
    Crash {
        /// The program's exit code; none when a signal ended it.
        exit: Option<i32>,
        /// How many events are reported before.
        after_events: u32,
    },
    /// The session to be continued or forked is gone. A turn with a fresh session cannot lose one, so its call runs as
    /// usual and does not use up the rule.
    LostSession,
    /// The agent ends its turn normally, but without an answer.
    NoOutput,
    /// The answer is cut off in the middle of its JSON, so it is text instead of output.
    InvalidJson,
    /// The output is JSON, but violates the turn's schema; null for a turn without a schema.
    BrokenOutput,
    /// The output is replaced by this value.
    Output(Value),
    /// The first text of the output, and the agent's text, are each padded to this many bytes.
    HugeOutput {
        /// The number of bytes.
        bytes: usize,
    },
    /// Invalid UTF-8 was decoded lossily: every text of the answer, and every text that the agent reports, contains
    /// U+FFFD.
    LossyText,
}

/// The point of the call at which the fault is injected.
pub(super) enum Stage<'f> {
    /// The call is delayed.
    Delayed(Duration),
    /// The call fails before the agent is called.
    Before(AgentErrorKind),
    /// The agent is stopped after this many events.
    AfterEvents(u32, End),
    /// The agent's answer is corrupted.
    Answer(&'f Fault),
}

pub(super) enum End {
    Fails(AgentErrorKind),
    Stalls,
}

impl Fault {
    /// The fault's name in counts and reports, such as `crash` or `rate_limited`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::Stall { .. } => "stall",
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ConnectionRefused => "connection_refused",
            Self::Refused => "refused",
            Self::PromptTooLong => "prompt_too_long",
            Self::StepLimit => "step_limit",
            Self::CutStream { .. } => "cut_stream",
            Self::Crash { .. } => "crash",
            Self::LostSession => "lost_session",
            Self::NoOutput => "no_output",
            Self::InvalidJson => "invalid_json",
            Self::BrokenOutput => "broken_output",
            Self::Output(_) => "output",
            Self::HugeOutput { .. } => "huge_output",
            Self::LossyText => "lossy_text",
        }
    }

    /// Whether the fault is possible in `turn`.
    pub(super) fn fits(&self, turn: &Turn) -> bool {
        !matches!((self, &turn.session), (Self::LostSession, SessionOp::StartFresh(_)))
    }

    pub(super) fn stage(&self, turn: &Turn) -> Stage<'_> {
        let reason = "injected".to_owned();
        match self {
            Self::Delay(time) => Stage::Delayed(*time),
            Self::RateLimited { retry_after } => {
                Stage::Before(AgentErrorKind::RateLimited { retry_after: *retry_after })
            }
            Self::Overloaded => Stage::Before(AgentErrorKind::Overloaded),
            Self::ConnectionRefused => {
                Stage::Before(AgentErrorKind::Connection { reason: "connection refused (injected)".to_owned() })
            }
            Self::Refused => Stage::Before(AgentErrorKind::Refused { reason }),
            Self::PromptTooLong => Stage::Before(AgentErrorKind::PromptTooLong),
            Self::LostSession => match &turn.session {
                SessionOp::ContinueFrom(session) | SessionOp::ForkFrom { parent: session, .. } => {
                    Stage::Before(SessionError::Unknown { session: session.clone() }.into())
                }
                // `fits` excludes this case.
                SessionOp::StartFresh(_) => Stage::Delayed(Duration::ZERO),
            },
            Self::Stall { after_events } => Stage::AfterEvents(*after_events, End::Stalls),
            Self::StepLimit => Stage::AfterEvents(u32::MAX, End::Fails(AgentErrorKind::StepLimit)),
            Self::CutStream { after_events } => {
                let reason = "the stream broke off (injected)".to_owned();
                Stage::AfterEvents(*after_events, End::Fails(AgentErrorKind::Connection { reason }))
            }
            Self::Crash { exit, after_events } => {
                Stage::AfterEvents(*after_events, End::Fails(AgentErrorKind::Crashed { exit: *exit, reason }))
            }
            Self::NoOutput
            | Self::InvalidJson
            | Self::BrokenOutput
            | Self::Output(_)
            | Self::HugeOutput { .. }
            | Self::LossyText => Stage::Answer(self),
        }
    }
}

/// The usage of a call that the provider or the program rejected: it is known to cost nothing.
pub(super) const REJECTED: Usage = usage(0);
/// The usage of a call that was interrupted: its cost is unknown.
pub(super) const INTERRUPTED: Usage = usage(1);

const fn usage(unpriced_calls: u32) -> Usage {
    Usage { calls: 1, input_tokens: 0, output_tokens: 0, cost: crate::agent::usage::Cost::ZERO, unpriced_calls }
}
