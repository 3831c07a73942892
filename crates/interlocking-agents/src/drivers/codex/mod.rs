//! OpenAI's Codex, driven through its program `codex exec`.
//!
//! Unexpected behaviour of Codex, observed with 0.169.0, and how the driver handles it:
//!
//! | Codex | the driver |
//! |---|---|
//! | treats an id that is not a UUID as a session's name, and silently starts a fresh session if no session has that name | refuses such ids |
//! | ignores `developer_instructions` in a session that is continued | adds the [instructions](Turn::system) that the session does not have yet to the prompt |
//! | counts tokens from the session's beginning, without those of killed turns | reads the session's file |
//! | sends a schema in OpenAI's strict dialect, and does not check the answer | converts the schema, and converts the answer back |
//! | reports failures as English sentences without a code | recognises the sentences |
//! | retries for ever if a provider is unreachable | switches that off (`unbounded_connection_retries`) |
//! | runs commands, and a first look around, in login shells | switches that off (`allow_login_shell`, `shell_snapshot`) |
//! | starts agents of its own, whose tokens are not counted | switches that off (`agents.enabled`, `multi_agent`, `multi_agent_v2`) |
//! | reads variables, instructions and skills from its home, in which the agent can write | gives each call its own home |
//! | fetches plugins at every start | switches that off (`plugins`) |
//! | passes the API key to its commands | switches that off |
//! | cannot run its own sandbox within another sandbox | switches it off if the turn has a sandbox |
//! | does not report a command that its own sandbox kept from writing | nothing: there is no event |

mod call;
mod command;
mod event;
mod failure;
mod home;
mod instructions;
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
use crate::drivers::installation::directory_around;
use crate::program::Secret;
use crate::real_calls::permitted;
use crate::sessions::Sessions;
use crate::sessions::session::SessionId;
use call::Call;

/// The agent that runs Codex. Needs a Tokio runtime with I/O and time enabled.
///
/// A session is stored in Codex's [home](CodexSettings::home). A fork refers to its parent there, so do not remove
/// either of them while the other is needed.
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

    /// An agent with these settings. Nothing is checked before [`ready`](Agent::ready) or the first turn.
    pub fn new(settings: CodexSettings) -> Self {
        // Without a home every turn fails before it has a session.
        let sessions = settings.homes(true).map(|homes| Sessions::in_directory(homes.base())).unwrap_or_default();
        Self { settings, key: None, sessions }
    }

    /// The same with this API key instead of a key from a variable.
    #[must_use]
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Extends a sandbox so that the program can work in it: the program may be executed, and may read and write the
    /// sessions in the [home](CodexSettings::home) of this role, which is created if it is missing. Each call adds its own
    /// home. Without a key, or with [`reads_home`](CodexSettings::reads_home), the program may read and write everything
    /// in the home, so a turn can change what later turns do.
    ///
    /// The sandbox should have a [temporary directory](Sandbox::temporary_directory) and the
    /// [network](interlocking_sandbox::Network), because the program connects to its provider. The agent's commands can
    /// read whatever the program can read: all sessions of this role; without a key, the sessions of all roles and the
    /// login in the home.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): the home cannot be created, or the configured key is
    /// missing.
    pub fn grants(&self, role: Option<&str>, sandbox: Sandbox) -> Result<Sandbox, AgentError> {
        let has_key = self.key()?.is_some();
        let homes = self.settings.homes(has_key)?;
        let store = homes.of(role);
        let package = directory_around(&self.settings.program, "@openai");
        let sandbox = sandbox.tool_chain_of(&self.settings.program);
        let sandbox = home::grant(&self.settings, &homes, store.clone(), has_key, sandbox)
            .map_err(|error| call::unusable(&store, &error))?;
        Ok(package.into_iter().fold(sandbox, Sandbox::execute))
    }

    fn key(&self) -> Result<Option<Secret>, AgentError> {
        match &self.key {
            Some(key) => Ok(Some(key.clone())),
            None => Ok(self.settings.key()?),
        }
    }

    /// Checks what can be checked without the program.
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
        // If the configured key is missing, no turn can run.
        let has_key = self.key().is_ok_and(|key| key.is_some());
        Some(self.settings.homes(has_key).ok()?.of_session(role, session, call::has))
    }

    fn capabilities(&self) -> Capabilities {
        Self::CAPABILITIES
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.permitted()?;
        Ok(ready::check(&self.settings, self.key()?).await?)
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.permitted()?;
        Call::prepare(&self.settings, self.key()?, turn).await?.make(context).await
    }
}
