//! Claude Code, Anthropic's coding agent: the program `claude`, run without user interaction.
//!
//! - [`ClaudeSettings`]: the settings, with cautious defaults.
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
//! - **Environment.** The program gets [a few variables](crate::program::Environment::minimal), the variables that are
//!   set for it, and switches that keep it from updating itself, sending reports, remembering, and connecting to
//!   anything but the provider. A turn is refused if the program's own file, `.claude.json` or
//!   `.config.json` in its [home](ClaudeSettings::home), sets further variables.
//! - **The key** is passed through a pipe. It is not in an argument, in the environment or in a file, so the agent's
//!   commands, which run as the same user, cannot get it without a debugger. (Some shells, such as that of macOS, put
//!   what they pass through a pipe into a file; that file has no name.) The agent's commands can read three secrets:
//!   the token of a [gateway](Credential::AuthToken), which the program reads only from its environment; a
//!   [login](Credential::Login), which is stored in a file; and the secrets in the settings of MCP servers. The program
//!   writes the output of commands to its sessions and sends it to the model, so a key that a command prints gets
//!   there, too. The events, errors and logs of this crate never contain the key.
//! - **The prompt** is passed on standard input. The system prompt and the MCP servers are in files that exist for the
//!   time of the call. The schema is an argument, which every user of the system can read.
//! - **Sessions** are stored in [a directory](ClaudeSettings::home) for each role, with everything that was said and
//!   read. They are found from any workspace, so a fork may go to another workspace. A turn that continues or forks the
//!   session of another role runs in the directory of that role. With a login, which is stored in the directory, all
//!   roles share one directory.
//! - **A prompt is only a prompt.** The program would treat a prompt that begins with a slash as one of its commands,
//!   and would read every file that is mentioned with an `@`; the driver prevents both.
//!
//! # How it ends
//!
//! A turn that is interrupted or idle is first asked to stop in the program's own way, so that it reports its cost;
//! then it gets SIGTERM, then SIGKILL. All processes that it started end with it, after a success, too. The table in
//! `outcome.rs` says what each end of the program means; [`AgentError::disposition`](crate::AgentError::disposition)
//! says what to do about it.

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
use self::prepare::{Prepared, find};
use self::progress::Progress;
use self::store::Store;
use crate::agent::capabilities::Capabilities;
use crate::agent::error::AgentError;
use crate::agent::turn::{Reply, Turn};
use crate::agent::{Agent, TurnContext};
use crate::program::{Environment, Secret, StopTimeouts, run_protocol};
use crate::real_calls::permitted;
use crate::sessions::Sessions;
use crate::sessions::session::{SessionId, SessionOp};

pub use self::settings::{ClaudeSettings, Credential, Decisions, PermissionMode};

/// The agent that runs Claude Code.
#[derive(Debug, Clone)]
pub struct ClaudeCode {
    settings: ClaudeSettings,
    key: Option<Secret>,
    sessions: Sessions,
}

impl ClaudeCode {
    /// An agent with these settings. Nothing is checked before [`ready`](Agent::ready) or the first turn.
    pub fn new(settings: ClaudeSettings) -> Self {
        let store = Store::new(&settings, None, None);
        // Without a place for sessions there will be no sessions.
        let sessions = store.map_or_else(|_| Sessions::new(), |store| Sessions::in_directory(store.base()));
        Self { settings, key: None, sessions }
    }

    /// The same with this key instead of a key from a variable. It is an API key unless the [`Credential`] says
    /// otherwise.
    #[must_use]
    pub fn with_key(self, key: Secret) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Extends a sandbox so that the program can work in it: the program may be executed, and may read and write the
    /// [directory](ClaudeSettings::home) with the sessions of this role, which is created if it is missing.
    ///
    /// The sandbox should have a [temporary directory](Sandbox::temporary_directory), with a short path, and the
    /// [network](interlocking_sandbox::Network), because the program connects to its provider. The agent's commands can
    /// read whatever the program can read: all sessions of this role; with a [login](Credential::Login), the sessions
    /// of all roles.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): the program is missing, or the directory cannot be
    /// created.
    pub fn grants(&self, role: Option<&str>, sandbox: Sandbox) -> Result<Sandbox, AgentError> {
        let store = Store::new(&self.settings, role, None)?;
        store.make()?;
        let program = find(&self.settings.program, &Environment::minimal())?;
        Ok(sandbox.tool_chain_of(program).write(store.directory()))
    }

    fn permitted(&self) -> Result<(), AgentError> {
        Ok(permitted(self.name(), environment::destination(&self.settings).as_deref())?)
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
        store.refuse_variables()?;
        let existed = matches!(turn.session, SessionOp::ContinueFrom(_));
        let mut progress = Progress::new(context, turn.workspace.as_deref(), &store, session, existed);
        let called =
            run_protocol(invocation, &mut progress, context, &self.settings.limits(), &StopTimeouts::DEFAULT).await;
        drop(temporary);
        conclude(progress, called?, asked.as_ref(), turn)
    }
}
