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
//! | tries for ever to reach a provider that is not there | switches that off (`unbounded_connection_retries`) |
//! | runs commands, and a first look around, in login shells | switches that off (`allow_login_shell`, `shell_snapshot`) |
//! | starts agents of its own, whose tokens nobody counts | switches that off (`multi_agent`, `multi_agent_v2`) |
//! | fetches plugins at every start | switches that off (`plugins`) |
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

use std::path::PathBuf;

use async_trait::async_trait;
use interlocking_sandbox::Sandbox;

pub use settings::CodexSettings;

use crate::agent::capabilities::{Capabilities, SchemaSupport};
use crate::agent::error::AgentError;
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::program::Secret;
use crate::real_calls::permitted;
use crate::sessions::Sessions;
use crate::sessions::session::SessionId;
use call::Call;

/// Codex. Needs a tokio runtime with I/O and time.
///
/// A session lives in Codex's [home](CodexSettings::home). A fork refers to its parent there, so neither may be removed while the
/// other is needed.
#[derive(Debug, Clone)]
pub struct Codex {
    settings: CodexSettings,
    key: Option<Secret>,
    sessions: Sessions,
}

impl Codex {
    /// What Codex can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        continues: true,
        forks: true,
        schemas: SchemaSupport::Sent,
        works: true,
        costs: false,
        limits_steps: false,
        limits_money: false,
        interrupts: true,
    };

    /// Set up like this. Nothing is looked at before [`ready`](Agent::ready) or the first turn.
    pub fn new(settings: CodexSettings) -> Self {
        // Without a home no turn gets as far as to have a session.
        let sessions = settings.homes(true).map(|homes| Sessions::in_directory(homes.base())).unwrap_or_default();
        Self { settings, key: None, sessions }
    }

    /// The same with this API key, not that of a variable.
    #[must_use]
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The same with another registry of sessions. Unless this is said it is in the [home](CodexSettings::home), so that whoever names
    /// the same home, in whatever process, shares it.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        Self { sessions, ..self }
    }

    /// A sandbox that the program can work in, too: it is run from where it lies, and reads and writes the
    /// [home](CodexSettings::home) of this role, which is made if it is not there.
    ///
    /// The sandbox should have a [temporary directory](Sandbox::temporary_directory), and the
    /// [network](interlocking_sandbox::Network), as the program speaks to its provider. What the program reads, the agent's
    /// commands read: all sessions of this role; without a key, those of all roles, and the login that is kept there.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): the home cannot be made, or the key is not there that was named.
    pub fn grants(&self, role: Option<&str>, sandbox: Sandbox) -> Result<Sandbox, AgentError> {
        let homes = self.settings.homes(self.key()?.is_some())?;
        let home = homes.of(role);
        homes.make(&home).map_err(|error| call::unusable(&home, &error))?;
        let package = ready::package_of(&self.settings.program);
        let sandbox = sandbox.tool_chain_of(&self.settings.program).write(home);
        Ok(package.into_iter().fold(sandbox, Sandbox::execute))
    }

    fn key(&self) -> Result<Option<Secret>, AgentError> {
        match &self.key {
            Some(key) => Ok(Some(key.clone())),
            None => Ok(self.settings.key()?),
        }
    }

    /// What can be said without looking at the program.
    fn permitted(&self) -> Result<(), AgentError> {
        self.settings.refused()?;
        Ok(permitted(self.name(), self.settings.destination().as_deref())?)
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

    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        // Without the key that was asked for there will be no turn.
        let has_key = self.key().is_ok_and(|key| key.is_some());
        Some(self.settings.homes(has_key).ok()?.of_session(role, session, call::has))
    }

    fn capabilities(&self) -> Capabilities {
        Self::CAPABILITIES
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.permitted()?;
        self.key()?;
        self.settings.homes(true)?;
        Ok(ready::check_version(&self.settings.program).await?)
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.permitted()?;
        Call::prepare(&self.settings, self.key()?, turn).await?.make(context).await
    }
}
