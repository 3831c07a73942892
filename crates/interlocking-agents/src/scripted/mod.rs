//! An agent that plays a script, for tests and demonstrations.

mod act;
mod duration;
mod matching;
mod parse;
mod script;
mod stage;

use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

pub use act::{ActionError, ActionProblem};
pub(crate) use duration::shown;
pub use matching::{NoMatch, Unfit, UnfitTurn};
pub use parse::{ScriptError, ScriptProblem};
pub use script::Script;
pub use stage::Exchange;

use crate::agent::{Agent, TurnContext};
use crate::error::{AgentError, AgentErrorKind};
use crate::event::AgentEvent;
use crate::session::SessionId;
use crate::sessions::Sessions;
use crate::turn::{Reply, Turn};
use crate::usage::Usage;
use script::{Failure, ScriptTurn, Times};
use stage::Stage;

/// An agent that does what a [`Script`] says, whatever it is asked. The [module](self) describes it.
pub struct ScriptedAgent {
    script: Script,
    environment: Vec<(OsString, OsString)>,
    sessions: Sessions,
    stage: Mutex<Stage>,
}

/// A turn of a script that could have been used (again).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedTurn {
    /// Where it begins in the script.
    pub line: usize,
    /// How often it was used.
    pub used: u32,
    /// How often it was meant to be used: its `times`, or 1 for `times = "any"`.
    pub expected: u32,
}

impl ScriptedAgent {
    /// An agent at the beginning of the script, without any session.
    pub fn new(script: Script) -> Self {
        let stage = Mutex::new(Stage::new(script.turns.len()));
        Self { script, environment: Vec::new(), sessions: Sessions::new(), stage }
    }

    /// The same with one more environment variable for the commands it runs; they inherit all others.
    pub fn with_env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), value.into()));
        self
    }

    /// Everything asked and answered in a session, what it inherited by a fork included. None if there is no such
    /// session.
    pub fn history(&self, session: &SessionId) -> Option<Vec<Exchange>> {
        self.stage().history(session)
    }

    /// The turns that were used less often than they say; a test that ends with none of them has played the whole
    /// script. A turn with `times = "any"` is meant to be used once.
    pub fn unused(&self) -> Vec<UnusedTurn> {
        let stage = self.stage();
        let turns = self.script.turns.iter().zip(&stage.used);
        turns
            .map(|(turn, used)| {
                let expected = match turn.times {
                    Times::AtMost(times) => times,
                    Times::Any => 1,
                };
                UnusedTurn { line: turn.line, used: *used, expected }
            })
            .filter(|turn| turn.used < turn.expected)
            .collect()
    }

    /// Finds the turn to play and the session to play it in; both are settled at once, so that concurrent prompts
    /// never get the same turn.
    fn enter(&self, turn: &Turn) -> Result<(&ScriptTurn, SessionId), AgentErrorKind> {
        let mut stage = self.stage();
        stage.require(&turn.session)?;
        let index = matching::choose(&self.script, &stage.used, turn)?;
        let session = stage.open(&turn.session)?;
        stage.used[index] += 1;
        stage.ask(&session, &turn.prompt);
        Ok((&self.script.turns[index], session))
    }

    async fn play(&self, context: &TurnContext<'_>, turn: &Turn, played: &ScriptTurn) -> Result<(), AgentErrorKind> {
        if let Some(delay) = played.delay {
            tokio::time::sleep(delay).await;
        }
        for action in &played.actions {
            act::act(context, action, turn.workspace.as_deref(), &self.environment)
                .await
                .map_err(|problem| ActionError { script: self.script.name.clone(), line: action.line, problem })?;
        }
        match played.fail {
            Some(failure) => Err(failure.kind(played.text.as_deref())),
            None => Ok(()),
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    fn name(&self) -> &str {
        "scripted"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let (played, session) = self.enter(turn)?;
        tracing::debug!(script = self.script.name, line = played.line, %session, "playing a turn");
        context.started(&session)?;
        let outcome = tokio::select! {
            biased;
            () = context.interrupted() => Err(AgentErrorKind::Cancelled),
            outcome = self.play(context, turn, played) => outcome,
        };
        let usage = Usage {
            calls: 1,
            input_tokens: played.tokens.input,
            output_tokens: played.tokens.output,
            cost: played.cost,
            unpriced_calls: 0,
        };
        outcome.map_err(|kind| AgentError::new(kind).in_session(session.clone(), usage))?;
        if let Some(text) = &played.text {
            context.emit(AgentEvent::Text { text: text.clone() });
        }
        let (output, text) = (played.output.clone(), played.text.clone());
        self.stage().answer(&session, output.clone(), text.clone());
        Ok(Reply { session, output, text, usage })
    }
}

impl Failure {
    fn kind(self, text: Option<&str>) -> AgentErrorKind {
        let reason = text.unwrap_or("the script says so").to_owned();
        match self {
            Self::RateLimited => AgentErrorKind::RateLimited { retry_after: None },
            Self::Overloaded => AgentErrorKind::Overloaded,
            Self::Connection => AgentErrorKind::Connection { reason },
            Self::Refused => AgentErrorKind::Refused { reason },
            Self::PromptTooLong => AgentErrorKind::PromptTooLong,
            Self::StepLimit => AgentErrorKind::StepLimit,
            Self::BudgetLimit => AgentErrorKind::BudgetLimit,
            Self::Crash => AgentErrorKind::Crashed { exit: Some(1), reason },
        }
    }
}
