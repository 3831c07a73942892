//! Google's Gemini CLI, driven through its program `gemini`.
//!
//! Unexpected behaviour of the Gemini CLI, observed with 0.61.0, and how the driver handles it:
//!
//! | Gemini CLI | the driver |
//! |---|---|
//! | reads settings only from files; those of the workspace override the user's | gives each call its own home, and refuses a workspace with settings unless configured otherwise |
//! | continues a session only in the directory in which it began | lets all turns without a workspace of a role read in one directory, which is in its home |
//! | deletes old and unreadable sessions at its start, including sessions that are just beginning | switches that off |
//! | treats `5` as the fifth session | refuses ids without a session file |
//! | does not support schemas | puts the schema into the prompt, and finds the output in the text |
//! | may exit with 0 before its last output is written, if its output is not read for a moment | treats an end without a result as a transient crash |
//! | treats a prompt that begins with `/` as one of its commands | puts a line before it |
//! | cuts the prompt after 8 MiB | refuses a longer prompt |
//! | adds the files of the workspace that the prompt names as `@path` | permits it |
//! | exits successfully if the stream broke off | checks its output instead of its exit code |
//! | writes the text of a failed attempt before that of the next attempt | takes the last output in the text |
//! | passes the API key to its commands | switches that off |
//! | writes the prompt of a failed call to the directory for temporary files | gives the call its own directory, and removes it |
//! | does not report its usage if it is stopped | reads the session's file |

mod call;
mod command;
mod event;
mod failure;
mod home;
mod progress;
mod ready;
mod record;
mod settings;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use interlocking_sandbox::Sandbox;

pub use settings::{GeminiPermissions, GeminiSettings};

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
use home::Home;

/// The agent that runs the Gemini CLI. Needs a Tokio runtime with I/O and time enabled, and a Unix system.
///
/// A session is stored in the [home](field@GeminiSettings::home), and can be continued only in the workspace where it
/// began; a fork is a copy and may go to any workspace. There are no prices:
/// [`unpriced_calls`](crate::Usage::unpriced_calls) counts all calls.
#[derive(Debug)]
pub struct Gemini {
    settings: GeminiSettings,
    key: Option<Secret>,
    sessions: Sessions,
}

impl Gemini {
    /// What the Gemini CLI can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        continues: true,
        forks: true,
        schemas: SchemaSupport::Prompted,
        works: true,
        costs: false,
        limits_steps: true,
        limits_money: false,
        interrupts: true,
    };

    /// An agent with these settings. Nothing is checked before [`ready`](Agent::ready) or the first turn.
    pub fn new(settings: GeminiSettings) -> Self {
        // Without a home every turn fails before it has a session.
        let sessions = settings.homes().map(|homes| Sessions::in_directory(homes.base())).unwrap_or_default();
        Self { settings, key: None, sessions }
    }

    /// The same with this API key instead of a key from a variable.
    #[must_use]
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Extends a sandbox so that the program can work in it: the program and its `node` may be executed, and the sessions
    /// in the [home](field@GeminiSettings::home) of this role may be read and written. The home is created if it is
    /// missing. Each call adds its own directory.
    ///
    /// The sandbox should have the [network](interlocking_sandbox::Network), because the program connects to its
    /// provider. The agent's commands can read whatever the program can read: all sessions of this role.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): the home cannot be created.
    pub fn grants(&self, role: Option<&str>, sandbox: Sandbox) -> Result<Sandbox, AgentError> {
        let home = Home::open(&self.settings, role, None)?;
        let package = directory_around(&self.settings.program, "node_modules");
        let sandbox = home.grant(sandbox.tool_chain_of(&self.settings.program).tool_chain_of("node"));
        Ok(package.into_iter().fold(sandbox, Sandbox::execute))
    }

    fn key(&self) -> Result<Secret, AgentError> {
        Ok(self.key.clone().map_or_else(|| self.settings.key(), Ok)?)
    }

    /// Checks what can be checked without the program, for a turn in this workspace.
    fn permitted(&self, workspace: Option<&Path>) -> Result<(), AgentError> {
        self.settings.refused()?;
        Ok(permitted(self.name(), self.settings.destination(workspace).as_deref())?)
    }
}

#[async_trait]
impl Agent for Gemini {
    fn name(&self) -> &str {
        "gemini"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn confines(&self) -> bool {
        true
    }

    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        Some(self.settings.homes().ok()?.of_session(role, session, home::has))
    }

    fn capabilities(&self) -> Capabilities {
        Self::CAPABILITIES
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.permitted(None)?;
        Ok(ready::check(&self.settings, self.key()?).await?)
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.permitted(turn.workspace.as_deref())?;
        Call::prepare(&self.settings, self.key()?, turn).await?.make(context).await
    }
}
