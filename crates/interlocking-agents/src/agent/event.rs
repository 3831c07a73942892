//! What an agent reports while a turn runs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::usage::Usage;
use crate::conversation::nudge::NudgeReason;
use crate::schema::SchemaViolation;
use crate::sessions::session::SessionId;

/// Something an agent reports that it did. An event is a claim, not a fact: code that depends on a file or a command
/// must check it.
///
/// Any event shows that the agent is alive, so an idle limit means "no event for this long".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// The session is known. Sent once per call, so again for each correction round.
    Started {
        /// The session that the turn runs in.
        session: SessionId,
    },
    /// The agent said something.
    Text {
        /// A piece of the agent's text.
        text: String,
    },
    /// The agent called one of its tools.
    ToolUse {
        /// The tool's name.
        name: String,
        /// The tool's input.
        input: Value,
    },
    /// The agent wrote or changed a file.
    FileWritten {
        /// Relative to the workspace.
        path: PathBuf,
    },
    /// The agent removed a file.
    FileRemoved {
        /// Relative to the workspace.
        path: PathBuf,
    },
    /// The agent ran a command.
    CommandRun {
        /// Program and arguments.
        command: Vec<String>,
        /// The command's exit code; none when a signal ended it.
        exit: Option<i32>,
    },
    /// The agent itself repeats a request to its provider.
    ProviderRetry {
        /// Counts from 1.
        attempt: u32,
        /// The reason as the provider reports it.
        reason: String,
    },
    /// The agent decided more than once in one call. One decision is accepted; this one was ignored.
    DecisionIgnored {
        /// The tool that the agent called.
        tool: String,
    },
    /// The agent does not know the session that it was to continue; the turn starts [again](crate::LostSession).
    SessionLost {
        /// The session that is gone.
        session: SessionId,
    },
    /// The call failed with a transient error. It is made again when the [gate](crate::CallGate) permits it.
    Retry {
        /// The error of the failed call.
        reason: String,
    },
    /// The agent is reminded that a decision is wanted.
    Nudge {
        /// Counts from 1.
        round: u32,
        /// Why the agent is reminded.
        reason: NudgeReason,
    },
    /// The output was not valid; the agent is asked to correct it.
    Correction {
        /// Counts from 1.
        round: u32,
        /// What is wrong with the output.
        violations: Vec<SchemaViolation>,
    },
    /// This many events of the call were left out, because they exceed what a [call may report](Self::MAX_EVENTS_PER_CALL).
    LeftOut {
        /// The number of events.
        events: u64,
    },
    /// One call of the agent ended, successfully or not.
    Finished {
        /// The session, if it is known.
        session: Option<SessionId>,
        /// What this one call used up.
        usage: Usage,
    },
}

impl AgentEvent {
    /// How many events of one call are reported; [`MAX_EVENT_BYTES_PER_CALL`](Self::MAX_EVENT_BYTES_PER_CALL) limits their
    /// total [size](Self::size). Further events are left out and [counted](Self::LeftOut): a program can report more in
    /// a second than is worth keeping.
    pub const MAX_EVENTS_PER_CALL: u64 = 100_000;

    /// How many bytes of events of one call are reported: 64 MiB. See [`MAX_EVENTS_PER_CALL`](Self::MAX_EVENTS_PER_CALL).
    pub const MAX_EVENT_BYTES_PER_CALL: usize = 64 << 20;

    /// The approximate number of bytes of memory that the event takes.
    pub fn size(&self) -> usize {
        let held = match self {
            Self::Text { text: words } | Self::ProviderRetry { reason: words, .. } | Self::Retry { reason: words } => {
                words.len()
            }
            Self::ToolUse { name, input } => name.len() + size_of_json(input),
            Self::FileWritten { path } | Self::FileRemoved { path } => path.as_os_str().len(),
            Self::CommandRun { command, .. } => command.iter().map(|word| size_of::<String>() + word.len()).sum(),
            Self::DecisionIgnored { tool } => tool.len(),
            Self::Correction { violations, .. } => violations
                .iter()
                .map(|violation| size_of::<SchemaViolation>() + violation.path.len() + violation.message.len())
                .sum(),
            Self::Started { .. }
            | Self::SessionLost { .. }
            | Self::Nudge { .. }
            | Self::LeftOut { .. }
            | Self::Finished { .. } => 0,
        };
        size_of::<Self>() + held
    }
}

/// The heap memory of a value, without the `Value` itself.
fn size_of_json(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(|value| size_of::<Value>() + size_of_json(value)).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| size_of::<(String, Value)>() + name.len() + size_of_json(value)).sum()
        }
    }
}

/// Receives events. `emit` is called from inside the turn, so it must not block for long: while it blocks, the agent's
/// output is not read and its program may have to wait.
///
/// Any closure `Fn(AgentEvent) + Send + Sync` implements it, such as `|event| { let _ = sender.send(event); }` for a
/// channel.
pub trait AgentEvents: Send + Sync {
    /// Receives one event.
    fn emit(&self, event: AgentEvent);
}

impl<F: Fn(AgentEvent) + Send + Sync> AgentEvents for F {
    fn emit(&self, event: AgentEvent) {
        self(event);
    }
}

/// Drops every event.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl AgentEvents for NoEvents {
    fn emit(&self, _event: AgentEvent) {}
}
