//! Claude Code, Anthropic's coding agent: the program `claude`, run without a person.
//!
//! - [`ClaudeSettings`]: how it is set up; cautious unless it is told otherwise.
//! - [`ClaudeCode`]: the agent.
//!
//! ```no_run
//! use interlocking_agents::{Agent, ClaudeCode, ClaudeSettings, Conversation, NoEvents, Slug, Turn};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = ClaudeSettings { model: Some("haiku".into()), max_dollars: Some(0.5), ..ClaudeSettings::default() };
//! let agent = ClaudeCode::new(settings);
//! agent.ready().await?;
//! let turn = Turn { workspace: Some("/work/newsroom".into()), ..Turn::fresh(Slug::new("write")?, "Write an article.") };
//! let completion = Conversation::new(&agent).run(turn, &NoEvents).await?;
//! println!("{} ({})", completion.text.unwrap_or_default(), completion.usage);
//! # Ok(())
//! # }
//! ```
//!
//! # What it sees and keeps
//!
//! - **Environment.** The program gets [a few variables](crate::program::Environment::minimal), those that are set for it, and
//!   switches that keep it from updating itself, reporting, remembering, and speaking to anybody but the provider.
//! - **The key** is handed over through a pipe. It stands in no argument, no environment and no file, so the agent's commands,
//!   which run as the same user, do not come by it without a debugger. (A shell that keeps what it hands over in files, as that of
//!   macOS does, has it in one without a name.) Three things are not kept from them: the token of a
//!   [gateway](Credential::AuthToken), which the program takes from its environment alone; a [login](Credential::Login) that is
//!   kept in a file; and what MCP servers are given in their settings. What the commands print, the program writes down in its
//!   sessions and sends to the model; a key that they see gets there, too. Our events, errors and logs never have it.
//! - **The prompt** is standard input. The system prompt and the MCP servers are files for the time of the call. The schema is an
//!   argument, which everybody on the system can read.
//! - **Sessions** stand in [a directory](ClaudeSettings::home) for each role, with all that was said and read. They are found from
//!   any workspace, so a fork may go to another one. A turn that goes on with another role's session, or forks it, is run in the
//!   directory of that role. With a login, which is kept there, all roles have one directory.
//! - **A prompt is a prompt.** The program would take one that begins with a slash for a command of its own, and would read every
//!   file that is mentioned with an `@`; it is kept from both.
//!
//! # How it ends
//!
//! A turn that is interrupted or idle is asked to stop in the program's own way, so that it says what it had cost; then by
//! SIGTERM, then by SIGKILL. Whatever it started ends with it, after a success, too. What each end of the program means is a table in
//! `outcome.rs`; [`AgentError::disposition`](crate::AgentError::disposition) says what helps.

mod settings;

mod ready;

mod prepare;
mod arguments;
mod environment;
mod schema;
mod store;

mod progress;
mod line;
mod results;

mod conclude;
mod outcome;
mod usage;

#[cfg(test)]
mod recorded;

use std::path::PathBuf;

use async_trait::async_trait;
use interlocking_sandbox::Sandbox;

use self::conclude::conclude;
use self::prepare::{Prepared, configuration, find};
use self::progress::Progress;
use self::store::Store;
use crate::agent::capabilities::Capabilities;
use crate::agent::error::AgentError;
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::program::{Environment, Secret, StopOrder, run_protocol};
use crate::real_calls::permitted;
use crate::sessions::Sessions;
use crate::sessions::session::{SessionId, SessionOp};

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
        let store = Store::new(&settings, None, None);
        // Without a place for sessions there will be none.
        let sessions = store.map_or_else(|_| Sessions::new(), |store| Sessions::in_directory(store.base()));
        Self { settings, key: None, sessions }
    }

    /// The same with this key, not that of a variable. It is an API key unless the [`Credential`] says otherwise.
    #[must_use]
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    /// A sandbox that the program can work in, too: it is run from where it lies, and reads and writes the
    /// [directory](ClaudeSettings::home) with the sessions of this role, which is made if it is not there.
    ///
    /// The sandbox should have a [temporary directory](Sandbox::temporary_directory), with a short path, and the
    /// [network](interlocking_sandbox::Network), as the program speaks to its provider. What the program reads, the agent's
    /// commands read: all sessions of this role; with a [login](Credential::Login), those of all roles.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): there is no program, or the directory cannot be made.
    pub fn grants(&self, role: Option<&str>, sandbox: Sandbox) -> Result<Sandbox, AgentError> {
        let store = Store::new(&self.settings, role, None).map_err(|error| configuration(&error))?;
        store.make().map_err(|error| configuration(&error))?;
        let program = find(&self.settings.program, &Environment::minimal())?;
        Ok(sandbox.tool_chain_of(program).write(store.directory()))
    }

    fn permitted(&self) -> Result<(), AgentError> {
        let address = environment::base_url(&self.settings);
        permitted(self.name(), address.as_deref()).map_err(AgentError::new)
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

    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        Some(Store::new(&self.settings, role, session).ok()?.directory().to_owned())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn ready(&self) -> Result<(), AgentError> {
        self.permitted()?;
        ready::ready(&self.settings, self.key.as_ref()).await
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        self.permitted()?;
        let Prepared { invocation, store, session, asked, temporary } =
            Prepared::new(&self.settings, self.key.as_ref(), turn)?;
        let existed = matches!(turn.session, SessionOp::ContinueFrom(_));
        let mut progress = Progress::new(context, turn.workspace.as_deref(), &store, session, existed);
        let called =
            run_protocol(invocation, &mut progress, context, &self.settings.limits(), &StopOrder::DEFAULT).await;
        drop(temporary);
        conclude(progress, called?, asked.as_ref(), turn)
    }
}
