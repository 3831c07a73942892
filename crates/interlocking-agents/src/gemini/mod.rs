//! Google's Gemini CLI, by its program `gemini`.
//!
//! What it does that one might not expect, observed with 0.61.0:
//!
//! | | so the driver |
//! |---|---|
//! | takes settings from files alone, the workspace's over the user's | gives each call a home of its own, and refuses a workspace that brings settings unless told otherwise |
//! | deletes, when it starts, old sessions and those that it cannot read, such as one that just begins | switches that off |
//! | takes `5` for the fifth session | refuses ids that are no UUID, and those whose file is not there |
//! | knows no schema | says it in the prompt, and looks for the output in the [text](answer) |
//! | takes a prompt that begins with `/` for a command of its own | puts a line before it |
//! | cuts the prompt after 8 MiB | refuses a longer one |
//! | adds to the prompt the files of the workspace that it names as `@path` | lets it |
//! | ends well where the stream broke off | looks at what it said, not at its exit code |
//! | writes the text of an attempt that failed before that of the next one | takes the last output in the text |
//! | tells its commands the API key | switches that off |
//! | writes the prompt of a call that failed to the directory for temporary files | gives it one of its own, and removes it |
//! | says nothing of what it used up when it is stopped | nothing: the call counts without tokens |

mod answer;
mod call;
mod command;
mod event;
mod failure;
mod home;
mod progress;
mod ready;
mod settings;

use async_trait::async_trait;

pub use settings::{GeminiPermissions, GeminiSettings};

use crate::agent::{Agent, TurnContext};
use crate::capabilities::{Capabilities, SchemaSupport};
use crate::error::AgentError;
use crate::sessions::Sessions;
use crate::turn::{Reply, Turn};

/// The Gemini CLI. Needs a tokio runtime with I/O and time, and a Unix system.
///
/// A session lives in the [home](GeminiSettings::home), and goes on only in the workspace where it began; a fork is a copy and may
/// go on anywhere. There are no prices: [`unpriced_calls`](crate::Usage::unpriced_calls) counts all calls.
#[derive(Debug)]
pub struct Gemini {
    settings: GeminiSettings,
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
        interrupts: false,
    };

    /// The Gemini CLI, set up like this. Nothing is looked at before [`ready`](Agent::ready).
    pub fn new(settings: GeminiSettings) -> Self {
        Self { settings, sessions: Sessions::new() }
    }

    /// The same with this registry of sessions: for several that share one home.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        Self { sessions, ..self }
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

    fn capabilities(&self) -> Capabilities {
        Self::CAPABILITIES
    }

    async fn ready(&self) -> Result<(), AgentError> {
        Ok(ready::check(&self.settings).await?)
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        call::Call::prepare(&self.settings, turn)?.make(context).await
    }
}
