//! What goes into a turn and what comes out.

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
    /// What the agent is asked.
    pub prompt: String,
    /// What the agent is told about itself, in addition to its own system prompt.
    pub system: Option<String>,
    /// The context the turn starts from.
    pub session: SessionOp,
    /// The shape of the answer. Without one any answer will do.
    pub schema: Option<Arc<Schema>>,
    /// The directory the agent works in. Its files are the agent's to read and, unless `read_only`, to write.
    pub workspace: Option<PathBuf>,
    /// The agent is told, and where its program can enforce it made, to change no file. Whoever depends on that
    /// checks the workspace afterwards.
    pub read_only: bool,
    /// What confines every program that the agent starts, and all that they start; nothing where it is absent. An agent that
    /// cannot confine what it starts [says so](crate::Agent::confines), and is not asked.
    pub sandbox: Option<Arc<Sandbox>>,
    /// The model, in the agent's own naming; its default when absent.
    pub model: Option<String>,
    /// The part the agent plays ("writer"). Not sent; for scripts, logs and the ledger.
    pub role: Option<String>,
}

/// What an agent answered to one call; its output is not validated yet.
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
    /// The session to continue or to fork for more.
    pub session: SessionId,
    /// The structured output, if the agent gave one.
    pub output: Option<Value>,
    /// The calls of [decision tools](crate::DecisionTool), of an agent that offers its model those of the turn's schema
    /// instead of the schema; in the order of the calls. Without an `output` the first one is taken for it.
    pub decisions: Vec<Decision>,
    /// The last thing the agent said in plain text.
    pub text: Option<String>,
    /// What this call used up.
    pub usage: Usage,
}

/// What came of a turn, correction rounds included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The session to continue or to fork for more.
    pub session: SessionId,
    /// The structured output. Valid when the turn had a schema; without one whatever the agent gave, or null.
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
    /// The sessions that were found [lost](crate::LostSession), so that the turn began anew: nothing that was said in them is
    /// known to the agent that answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<SessionId>,
}

impl Turn {
    /// A turn with this prompt and operation and nothing else; set other fields with struct update syntax.
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

    /// Why there is none where the text is longer.
    pub(crate) fn too_long() -> AgentErrorKind {
        let message = format!("the model's answer is longer than {} bytes", Self::LONGEST_TEXT);
        AgentErrorKind::Other { message, transient: false }
    }

    /// A reply that says nothing; set other fields with struct update syntax.
    pub fn new(session: SessionId, usage: Usage) -> Self {
        Self { session, output: None, decisions: Vec::new(), text: None, usage }
    }
}
