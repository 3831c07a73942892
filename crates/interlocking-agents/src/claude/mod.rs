//! Claude Code, Anthropic's coding agent: the program `claude`, run without a person.
//!
//! - [`ClaudeSettings`]: how it is set up.
//! - [`ClaudeCode`]: the agent.

mod settings;

mod prepare;
mod arguments;
mod environment;
mod schema;
mod store;

mod dialogue;
mod line;

mod conclude;
mod outcome;
mod usage;

use async_trait::async_trait;

use self::conclude::conclude;
use self::dialogue::Hearing;
use self::prepare::Prepared;
use crate::agent::{Agent, TurnContext};
use crate::capabilities::Capabilities;
use crate::error::AgentError;
use crate::program::{Secret, StopOrder, converse};
use crate::session::SessionOp;
use crate::sessions::Sessions;
use crate::turn::{Reply, Turn};

pub use self::settings::{ClaudeSettings, Credential, Decisions, PermissionMode};

/// Claude Code.
#[derive(Debug, Clone)]
pub struct ClaudeCode {
    settings: ClaudeSettings,
    key: Option<Secret>,
    sessions: Sessions,
}

impl ClaudeCode {
    /// Set up like this. Nothing is looked at before [`ready`](Agent::ready) or the first turn.
    pub fn new(settings: ClaudeSettings) -> Self {
        Self { settings, key: None, sessions: Sessions::new() }
    }

    /// The same with this key, not that of a variable. It is an API key unless the [`Credential`] says otherwise.
    #[must_use]
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The same with the registry of another agent that keeps its sessions in the same
    /// [directory](ClaudeSettings::config_directory).
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        Self { sessions, ..self }
    }
}

#[async_trait]
impl Agent for ClaudeCode {
    fn name(&self) -> &str {
        "claude"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn confines(&self) -> bool {
        true
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let Prepared { invocation, store, session, asked, temporary } =
            Prepared::new(&self.settings, self.key.as_ref(), turn)?;
        let existed = matches!(turn.session, SessionOp::ContinueFrom(_));
        let mut hearing = Hearing::new(context, turn.workspace.as_deref(), &store, session, existed);
        let called = converse(invocation, &mut hearing, context, &self.settings.limits(), &StopOrder::DEFAULT).await;
        drop(temporary);
        conclude(hearing, called?, asked.as_ref(), turn)
    }
}
