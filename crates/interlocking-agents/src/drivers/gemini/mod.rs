//! Google's Gemini CLI, by its program `gemini`.
//!
//! What it does that one might not expect, observed with 0.61.0:
//!
//! | | so the driver |
//! |---|---|
//! | takes settings from files alone, the workspace's over the user's | gives each call a home of its own, and refuses a workspace that brings settings unless told otherwise |
//! | deletes, when it starts, old sessions and those that it cannot read, such as one that just begins | switches that off |
//! | takes `5` for the fifth session | refuses ids that are no UUID, and those whose file is not there |
//! | knows no schema | says it in the prompt, and looks for the output in the text |
//! | ends, with 0, before the last of what it said was written, where nobody reads for a moment | takes an end without a result for a crash, which passes |
//! | takes a prompt that begins with `/` for a command of its own | puts a line before it |
//! | cuts the prompt after 8 MiB | refuses a longer one |
//! | adds to the prompt the files of the workspace that it names as `@path` | lets it |
//! | ends well where the stream broke off | looks at what it said, not at its exit code |
//! | writes the text of an attempt that failed before that of the next one | takes the last output in the text |
//! | tells its commands the API key | switches that off |
//! | writes the prompt of a call that failed to the directory for temporary files | gives it one of its own, and removes it |
//! | says nothing of what it used up when it is stopped | reads the session's file |

mod answer;
mod call;
mod command;
mod event;
mod failure;
mod home;
mod progress;
mod ready;
mod record;
mod settings;

use std::path::PathBuf;

use async_trait::async_trait;
use interlocking_sandbox::Sandbox;

pub use settings::{GeminiPermissions, GeminiSettings};

use crate::agent::capabilities::{Capabilities, SchemaSupport};
use crate::agent::error::AgentError;
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::program::Secret;
use crate::real_calls::permitted;
use crate::sessions::Sessions;
use crate::sessions::session::SessionId;
use call::Call;
use home::Home;

/// The Gemini CLI. Needs a tokio runtime with I/O and time, and a Unix system.
///
/// A session lives in the [home](field@GeminiSettings::home), and goes on only in the workspace where it began; a fork is a copy and may
/// go on anywhere. There are no prices: [`unpriced_calls`](crate::Usage::unpriced_calls) counts all calls.
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

    /// The Gemini CLI, set up like this. Nothing is looked at before [`ready`](Agent::ready) or the first turn.
    pub fn new(settings: GeminiSettings) -> Self {
        // Without a home no turn gets as far as to have a session.
        let sessions = settings.homes().map(|homes| Sessions::in_directory(homes.base())).unwrap_or_default();
        Self { settings, key: None, sessions }
    }

    /// The same with this API key, not that of a variable.
    #[must_use]
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The same with another registry of sessions. Unless this is said it is in the [home](field@GeminiSettings::home), so that whoever names
    /// the same home, in whatever process, shares it.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        Self { sessions, ..self }
    }

    /// A sandbox that the program can work in, too: it is run from where it lies, by its `node`, and reads and writes the
    /// [home](field@GeminiSettings::home) of this role, which is made if it is not there.
    ///
    /// The sandbox should have the [network](interlocking_sandbox::Network), as the program speaks to its provider. What the program
    /// reads, the agent's commands read: all sessions of this role.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): the home cannot be made.
    pub fn grants(&self, role: Option<&str>, sandbox: Sandbox) -> Result<Sandbox, AgentError> {
        let home = Home::open(&self.settings, role, None)?;
        let package = ready::package_of(&self.settings.program);
        let sandbox = sandbox.tool_chain_of(&self.settings.program).tool_chain_of("node").write(home.path());
        Ok(package.into_iter().fold(sandbox, Sandbox::execute))
    }

    fn key(&self) -> Result<Secret, AgentError> {
        Ok(self.key.clone().map_or_else(|| self.settings.key(), Ok)?)
    }

    /// What can be said without looking at the program.
    fn permitted(&self) -> Result<(), AgentError> {
        self.settings.refused()?;
        Ok(permitted(self.name(), self.settings.base_url().as_deref())?)
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
        self.permitted()?;
        Ok(ready::check(&self.settings, self.key()?).await?)
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.permitted()?;
        Call::prepare(&self.settings, self.key()?, turn)?.make(context).await
    }
}
