//! OpenAI's Codex, by its program `codex exec`.
//!
//! What it does that one might not expect, observed with 0.169.0:
//!
//! | | so the driver |
//! |---|---|
//! | takes what is no UUID for a session's name, and silently starts afresh when there is none of that name | refuses such ids |
//! | ignores `developer_instructions` in a session that goes on | says in the prompt what the [session](Turn::system) does not know |
//! | counts tokens from the session's beginning, and not those of killed turns | reads the session's file |
//! | sends a schema in OpenAI's strict dialect, and does not check the answer | converts it, and its answer back |
//! | fails in English sentences without a code | knows the sentences |
//! | tries for ever to reach a provider that is not there | switches that off |
//! | tells its commands the API key | switches that off |
//! | cannot make its own sandbox within another one | leaves it out where the turn has one |
//! | says nothing of a command that its own sandbox kept from writing | nothing: there is no event |

mod call;
mod command;
mod event;
mod failure;
mod part;
mod progress;
mod ready;
mod rollout;
mod settings;

use async_trait::async_trait;

pub use settings::CodexSettings;

use crate::agent::{Agent, TurnContext};
use crate::capabilities::{Capabilities, SchemaSupport};
use crate::error::AgentError;
use crate::sessions::Sessions;
use crate::turn::{Reply, Turn};
use call::Call;

/// Codex. Needs a tokio runtime with I/O and time.
///
/// A session lives in Codex's [home](CodexSettings::home). A fork refers to its parent there, so neither may be removed while the
/// other is needed.
#[derive(Debug)]
pub struct Codex {
    settings: CodexSettings,
    sessions: Sessions,
}

impl Codex {
    /// What Codex can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        continues: true,
        forks: true,
        schemas: SchemaSupport::Enforced,
        works: true,
        costs: false,
        limits_steps: false,
        limits_money: false,
        interrupts: true,
    };

    /// Codex, set up like this. Nothing is looked at before [`ready`](Agent::ready).
    pub fn new(settings: CodexSettings) -> Self {
        Self { settings, sessions: Sessions::new() }
    }

    /// The same with this registry of sessions: for several that share one home.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        Self { sessions, ..self }
    }
}

#[async_trait]
impl Agent for Codex {
    fn name(&self) -> &str {
        "codex"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn confines(&self) -> bool {
        true
    }

    fn capabilities(&self) -> Capabilities {
        Self::CAPABILITIES
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.settings.refused()?;
        // Looks for the key, which telling the version does not need.
        command::environment(&self.settings, &self.settings.home()?)?;
        Ok(ready::check_version(&self.settings.program).await?)
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.settings.refused()?;
        Call::prepare(&self.settings, turn).await?.make(context).await
    }
}
