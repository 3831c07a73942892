//! Claude Code, Anthropic's coding agent: the program `claude`, run without a person.
//!
//! - [`ClaudeSettings`]: how it is set up.
//! - [`ClaudeCode`]: the agent.

mod settings;

mod ready;

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
use interlocking_sandbox::Sandbox;

use self::conclude::conclude;
use self::dialogue::Hearing;
use self::prepare::{Prepared, configuration, find};
use self::store::Store;
use crate::agent::{Agent, TurnContext};
use crate::capabilities::Capabilities;
use crate::error::AgentError;
use crate::program::{Environment, Secret, StopOrder, converse};
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

    /// A sandbox that the program can work in, too: it is run from where it lies, and reads and writes the
    /// [directory](ClaudeSettings::config_directory) with its sessions, which is made if it is not there.
    ///
    /// The sandbox should have a [temporary directory](Sandbox::temporary_directory), with a short path, and the
    /// [network](interlocking_sandbox::Network), as the program speaks to its provider. What the program reads, the agent's
    /// commands read: the sessions of all agents with the same directory.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): there is no program, or the directory cannot be made.
    pub fn grants(&self, sandbox: Sandbox) -> Result<Sandbox, AgentError> {
        let store = Store::new(self.settings.config_directory.as_deref()).map_err(|error| configuration(&error))?;
        store.make().map_err(|error| configuration(&error))?;
        let program = find(&self.settings.program, &Environment::minimal())?;
        Ok(sandbox.tool_chain_of(program).write(store.directory()))
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

    async fn ready(&self) -> Result<(), AgentError> {
        ready::ready(&self.settings, self.key.as_ref()).await
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
