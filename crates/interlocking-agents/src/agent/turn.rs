//! The input and the result of a turn.

use std::path::PathBuf;
use std::sync::Arc;

use interlocking_sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::error::AgentErrorKind;
use crate::agent::usage::Usage;
use crate::conversation::decision::Decision;
use crate::schema::Schema;
use crate::sessions::session::{SessionId, SessionOp, Slug};

/// One request to an agent: a prompt, and everything the agent must know to act on it.
///
/// ```
/// # use interlocking_agents::{Slug, Turn};
/// let turn = Turn {
///     workspace: Some("/tmp/newsroom".into()),
///     role: Some("writer".to_owned()),
///     ..Turn::fresh(Slug::new("write")?, "Write an article about rust.")
/// };
/// # Ok::<(), interlocking_agents::InvalidSlug>(())
/// ```
#[derive(Debug, Clone)]
pub struct Turn {
    /// The prompt for the agent.
    pub prompt: String,
    /// Instructions to the agent, in addition to its own system prompt.
    pub system: Option<String>,
    /// The context the turn starts from.
    pub session: SessionOp,
    /// The JSON schema of the answer. Without a schema any answer is valid.
    pub schema: Option<Arc<Schema>>,
    /// The directory the agent works in. The agent may read its files and, unless `read_only`, write them.
    pub workspace: Option<PathBuf>,
    /// Tells the agent to change no file, and forbids it where the agent's program can enforce that. Code that depends
    /// on this must check the workspace afterwards.
    pub read_only: bool,
    /// The sandbox for every program that the agent starts and for their child processes. No sandbox if absent. An
    /// agent that cannot confine its programs [says so](crate::Agent::confines), and is not used.
    pub sandbox: Option<Arc<Sandbox>>,
    /// The model, as the agent names it; the agent's default when absent.
    pub model: Option<String>,
    /// The role the agent plays ("writer"). Not sent to the model; for scripts, logs and the ledger.
    pub role: Option<String>,
}

/// An agent's answer to one call; its output is not validated yet.
///
/// ```
/// # use interlocking_agents::{Reply, SessionId, Usage};
/// # use serde_json::json;
/// # fn reply(session: SessionId, usage: Usage) -> Reply {
/// Reply { output: Some(json!({ "title": "Borrowing" })), ..Reply::new(session, usage) }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The session, to be continued or forked by later turns.
    pub session: SessionId,
    /// The structured output, if the agent gave one.
    pub output: Option<Value>,
    /// The calls of [decision tools](crate::DecisionTool), in order, from an agent that offers its model the decision
    /// tools of the turn's schema instead of the schema. If there is no `output`, the first call becomes the output.
    pub decisions: Vec<Decision>,
    /// The last thing the agent said in plain text.
    pub text: Option<String>,
    /// What this call used up.
    pub usage: Usage,
}

/// The result of a turn, correction rounds included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The session, to be continued or forked by later turns.
    pub session: SessionId,
    /// The structured output. Valid when the turn had a schema; without a schema, whatever the agent returned, or null.
    pub output: Value,
    /// The last thing the agent said in plain text.
    pub text: Option<String>,
    /// The sum over all rounds.
    pub usage: Usage,
    /// How many correction rounds it took.
    pub corrections: u32,
    /// How often the agent was [reminded](crate::Nudges).
    #[serde(default)]
    pub nudges: u32,
    /// The sessions that were found [lost](crate::LostSession), so that the turn started again. The agent that answered
    /// knows nothing of what was said in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<SessionId>,
}

impl Turn {
    /// A turn with this session operation and prompt and nothing else; set other fields with struct update syntax.
    pub fn new(session: SessionOp, prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            system: None,
            session,
            schema: None,
            workspace: None,
            read_only: false,
            sandbox: None,
            model: None,
            role: None,
        }
    }

    /// [`Turn::new`] with [`SessionOp::StartFresh`].
    pub fn fresh(slug: Slug, prompt: impl Into<String>) -> Self {
        Self::new(SessionOp::StartFresh(slug), prompt)
    }
}

impl Reply {
    /// How long the text of an answer may be, in bytes: 16 MiB, far more than any model writes.
    pub const LONGEST_TEXT: usize = 16 << 20;

    /// The error for an answer with a longer text.
    pub(crate) fn too_long() -> AgentErrorKind {
        let message = format!("the model's answer is longer than {} bytes", Self::LONGEST_TEXT);
        AgentErrorKind::Other { message, transient: false }
    }

    /// An empty reply; set other fields with struct update syntax.
    pub fn new(session: SessionId, usage: Usage) -> Self {
        Self { session, output: None, decisions: Vec::new(), text: None, usage }
    }
}
