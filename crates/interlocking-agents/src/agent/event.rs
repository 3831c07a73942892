//! What an agent reports while a turn runs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::usage::Usage;
use crate::conversation::nudge::NudgeReason;
use crate::schema::SchemaViolation;
use crate::sessions::session::SessionId;

/// Something an agent did. Claims, not facts: whoever depends on a file or a command checks it.
///
/// Any event shows that the agent is alive, so an idle limit is "no event for so long".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// The session is known. Comes once a call, so again for each correction round.
    Started {
        /// The session that the turn runs in.
        session: SessionId,
    },
    /// The agent said something.
    Text {
        /// A piece of its text.
        text: String,
    },
    /// The agent called one of its tools.
    ToolUse {
        /// The tool's name.
        name: String,
        /// What it was called with.
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
        /// Its exit code; none when a signal ended it.
        exit: Option<i32>,
    },
    /// The agent repeats a request to its provider by itself.
    ProviderRetry {
        /// Counts from 1.
        attempt: u32,
        /// What the provider said.
        reason: String,
    },
    /// The agent decided more than once in one call; this decision was ignored, as one is accepted.
    DecisionIgnored {
        /// The tool it called.
        tool: String,
    },
    /// The agent knows nothing of the session that it was to go on with; the turn begins [anew](crate::LostSession).
    SessionLost {
        /// The session that is gone.
        session: SessionId,
    },
    /// The call failed in a way that passes; it is made again once the [gate](crate::CallGate) lets it.
    Retry {
        /// How it failed.
        reason: String,
    },
    /// The agent is reminded that a decision is wanted.
    Nudge {
        /// Counts from 1.
        round: u32,
        /// Why.
        reason: NudgeReason,
    },
    /// The output was not valid; the agent is asked to correct it.
    Correction {
        /// Counts from 1.
        round: u32,
        /// What is wrong with the output.
        violations: Vec<SchemaViolation>,
    },
    /// So many events of this call were left out: more than a [call may report](Self::MOST_OF_A_CALL).
    LeftOut {
        /// How many.
        events: u64,
    },
    /// One call of the agent ended, well or badly.
    Finished {
        /// The session, if it is known.
        session: Option<SessionId>,
        /// What this one call used up.
        usage: Usage,
    },
}

impl AgentEvent {
    /// How many events of one call are reported, and of how many [bytes](Self::size) in all. The others are left out, and
    /// [counted](Self::LeftOut): a program can say more in a second than anybody wants to keep.
    pub const MOST_OF_A_CALL: u64 = 100_000;

    /// See [`MOST_OF_A_CALL`](Self::MOST_OF_A_CALL): 64 MiB.
    pub const MOST_BYTES_OF_A_CALL: usize = 64 << 20;

    /// About how many bytes of memory it takes.
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

/// What a value takes beside itself.
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

/// Where events go. Called from inside the turn, so it must not block for long: the agent's program waits as soon as nobody reads
/// what it says.
///
/// Any closure `Fn(AgentEvent) + Send + Sync` is one, such as
/// `|event| { let _ = sender.send(event); }` for a channel.
pub trait AgentEvents: Send + Sync {
    /// Takes one event.
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
