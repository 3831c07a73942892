//! The ways in which a call fails.

use std::time::Duration;

use serde_json::Value;

use crate::agent::error::AgentErrorKind;
use crate::agent::turn::Turn;
use crate::agent::usage::Usage;
use crate::sessions::SessionError;
use crate::sessions::session::SessionOp;

/// What goes wrong with one call.
///
/// `after_events` counts what the agent reports, from its [start](crate::AgentEvent::Started) on, which is the first: with 0
/// the agent is not called at all. It is stopped at the first moment that it waits for anything after those events, so what
/// it does without waiting is done; an agent that has fewer events to report is stopped at its end, and its answer is lost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing but time: the call begins so much later, and is then as it would have been. No sign of life meanwhile.
    Delay(Duration),
    /// From there on there is no event and no answer, until the turn is interrupted or dropped.
    Stall {
        /// What is reported before.
        after_events: u32,
    },
    /// The provider wants fewer requests (HTTP 429). Several in a row, by [`Rule::times`](crate::faults::Rule::times), are a storm.
    RateLimited {
        /// How long the provider says to wait.
        retry_after: Option<Duration>,
    },
    /// The provider has a problem of its own (HTTP 5xx).
    Overloaded,
    /// Nobody listens where the provider should be.
    ConnectionRefused,
    /// The provider refuses the key, the account or the model (HTTP 401, 403, 404).
    Refused,
    /// The prompt does not fit the model.
    PromptTooLong,
    /// The agent has done its work and used up its steps before it answered.
    StepLimit,
    /// The connection is cut in the middle of the answer.
    CutStream {
        /// What is reported before.
        after_events: u32,
    },
    /// The agent's program ends in the middle of the turn. What it did stays done.
    Crash {
        /// Its exit code; none when a signal ended it.
        exit: Option<i32>,
        /// What is reported before.
        after_events: u32,
    },
    /// The session to continue or to fork is gone. A turn that starts afresh loses none, so its call is left alone, and not
    /// counted.
    LostSession,
    /// The agent ends its turn in good order, but without an answer.
    NoOutput,
    /// The answer breaks off in the middle of its JSON, so it is no output but text.
    InvalidJson,
    /// The output is JSON, and breaks the turn's schema; of a turn without one, null.
    BrokenOutput,
    /// The output is this, whatever the agent answered.
    Output(Value),
    /// The output's texts, and what the agent said, are padded to so many bytes in all.
    HugeOutput {
        /// How many.
        bytes: usize,
    },
    /// Somebody on the way has read bytes that are no UTF-8 as if they were: every text of the answer, and what the agent
    /// says, has U+FFFD in it.
    LossyText,
}

/// Where in the call the fault strikes.
pub(super) enum Stage<'f> {
    /// First the time passes.
    Late(Duration),
    /// The agent is not called.
    Before(AgentErrorKind),
    /// It is stopped after so many events.
    Amid(u32, End),
    /// Its answer is spoilt.
    Answer(&'f Fault),
}

pub(super) enum End {
    Fails(AgentErrorKind),
    FallsSilent,
}

impl Fault {
    /// Its name in counts and reports: `crash`, `rate_limited`.
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

    /// Whether it can happen to `turn`.
    pub(super) fn fits(&self, turn: &Turn) -> bool {
        !matches!((self, &turn.session), (Self::LostSession, SessionOp::StartFresh(_)))
    }

    pub(super) fn stage(&self, turn: &Turn) -> Stage<'_> {
        let reason = "injected".to_owned();
        match self {
            Self::Delay(time) => Stage::Late(*time),
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
                // It does not fit, and so is never asked.
                SessionOp::StartFresh(_) => Stage::Late(Duration::ZERO),
            },
            Self::Stall { after_events } => Stage::Amid(*after_events, End::FallsSilent),
            Self::StepLimit => Stage::Amid(u32::MAX, End::Fails(AgentErrorKind::StepLimit)),
            Self::CutStream { after_events } => {
                let reason = "the stream broke off (injected)".to_owned();
                Stage::Amid(*after_events, End::Fails(AgentErrorKind::Connection { reason }))
            }
            Self::Crash { exit, after_events } => {
                Stage::Amid(*after_events, End::Fails(AgentErrorKind::Crashed { exit: *exit, reason }))
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

/// Of a call that the provider, or the program, turned away: it costs nothing, which is known.
pub(super) const TURNED_AWAY: Usage = usage(0);
/// Of a call that was under way: what it had cost by then nobody learns.
pub(super) const CUT_OFF: Usage = usage(1);

const fn usage(unpriced_calls: u32) -> Usage {
    Usage { calls: 1, input_tokens: 0, output_tokens: 0, cost: crate::agent::usage::Cost::ZERO, unpriced_calls }
}
