//! A scripted agent that logs its turns. Its sessions outlive the process, as real agents' do.

use crate::gazette::Part;
use crate::log::Log;
use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, Reply, Script, ScriptedAgent, SessionOp, Sessions, Turn, TurnContext};
use interlocking::prelude::NodeError;
use std::path::Path;

/// The agent.
pub struct Logged {
    scripted: ScriptedAgent,
    log: Log,
}

impl Logged {
    /// An agent whose sessions are kept in `directory`.
    ///
    /// # Errors
    ///
    /// If the sessions cannot be read.
    pub fn new(directory: &Path, log: Log) -> Result<Self, NodeError> {
        let mut script = String::new();
        for part in Part::ALL {
            for round in 1..=2 {
                let name = part.name();
                script += &format!(
                    "[[turn]]\ncontains = ['{name} round {round} of ']\ntimes = 'any'\ndelay = '2ms'\n\
                     output = {{ text = '{name} {round}' }}\ncost = 0.01\n"
                );
            }
        }
        let scripted = ScriptedAgent::new(Script::parse("gazette.toml", &script)?);
        Ok(Self { scripted: scripted.with_memory(directory.join("sessions.json"))?, log })
    }
}

#[async_trait]
impl Agent for Logged {
    fn name(&self) -> &str {
        "logged"
    }

    fn sessions(&self) -> &Sessions {
        self.scripted.sessions()
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let continues = match &turn.session {
            SessionOp::ContinueFrom(session) => Some(session.to_string()),
            _ => None,
        };
        let words: Vec<&str> = turn.prompt.split([' ', ':']).collect();
        let (round, run) = (words.get(2).and_then(|round| round.parse().ok()), words.get(4));
        if let Err(error) = self.log.turn(run.copied().unwrap_or_default(), round.unwrap_or_default(), continues) {
            // A test whose log cannot be written cannot go on.
            std::panic::panic_any(error.to_string());
        }
        self.scripted.run(context, turn).await
    }
}
