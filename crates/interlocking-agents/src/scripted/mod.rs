//! An agent that plays a script, for tests and demonstrations.
//!
//! A script is TOML: a list of `[[turn]]`s. A prompt gets the first turn that matches it and is not used up. The
//! crate's README has an annotated example.
//!
//! | field of a turn | meaning |
//! |---|---|
//! | `agent = "writer"` | matches only this [role](crate::Turn::role) |
//! | `contains = ["…", "…"]` | matches only prompts that contain all of these texts |
//! | `session = "fresh"` | matches only this operation: `fresh`, `continue` or `fork` |
//! | `times = 2` | how often it may be used: 1 by default, or `"any"` |
//! | `delay = "300ms"` | waits first; a whole number of `ms`, `s`, `m` or `h` |
//! | `write`, `append`, `replace`, `remove`, `run`, `commit` | [actions](#actions), which are really performed, in the order of the script |
//! | `output = { … }`, `output_json = '…'` | the structured output, in TOML or in JSON |
//! | `decide` | [decisions](#decisions) instead of an output |
//! | `text = "…"` | the agent's text; the reason, in a turn that fails |
//! | `cost = 0.0123`, `tokens = { input = 1, output = 1 }` | what the turn uses up; the cost is in dollars |
//! | `fail = "crash"` | ends in an error: `rate_limited`, `overloaded`, `connection`, `refused`, `prompt_too_long`, `step_limit`, `budget_limit` or `crash` |
//! | `retry_after = "5s"` | with `fail = "rate_limited"`: how long the provider says to wait |
//!
//! # Actions
//!
//! Paths are relative to the workspace; a path that leaves it, by `..` or by a link, is an error. Commands run in the
//! workspace, without a shell, with the environment of the process and of [`ScriptedAgent::with_env`], and confined by
//! the turn's [sandbox](Turn::sandbox), if it has one.
//!
//! | | fields |
//! |---|---|
//! | `[[turn.write]]` | `path`, `content`, `executable` (false) |
//! | `[[turn.append]]` | `path`, `content`; creates the file if it is missing |
//! | `[[turn.replace]]` | `path`, `find`, `with`; `find` must occur exactly once |
//! | `[[turn.remove]]` | `path` of a file, or of a directory with all its contents |
//! | `[[turn.run]]` | `command = ["program", "argument"]`, `exit` (0) or `"any"` |
//! | `[[turn.commit]]` | `message`; commits everything in the workspace that is not ignored |
//!
//! # Commits
//!
//! The workspace must be a git worktree, and there must be something to commit. The `git` in `PATH` makes the commit,
//! with the author `Scripted agent`, without hooks and without the user's and the system's configuration.
//! [`ScriptedAgent::with_env`] can set git's variables, such as dates.
//!
//! In the output, in the input of decisions and in the text, `$HEAD` is the hash of the commit that is checked out in
//! the workspace after the actions: so an agent can report its commit. Write a literal hash to play an agent that
//! reports a false commit.
//!
//! ```toml
//! [[turn]]
//! output = { status = "complete", commit = "$HEAD" }
//! [[turn.write]]
//! path = "src/parser.rs"
//! content = "pub fn parse() {}\n"
//! [[turn.commit]]
//! message = "Add the parser"
//! ```
//!
//! # Decisions
//!
//! | | fields |
//! |---|---|
//! | `[[turn.decide]]` | `tool = "Approved"`, the [name](crate::DecisionTool::name) of a decision tool; `input = { … }` (empty) |
//!
//! Each entry is a call of that tool. Several entries play a model that calls several tools: the first call is
//! accepted. Neither the name nor the input has to be valid; errors are corrected as in any output.

pub(crate) mod command;

mod act;
mod answer;
pub(crate) mod action_error;
pub(crate) mod duration;
mod git;
mod matching;
pub(crate) mod no_match;
mod memory;
mod parse;
mod script;
mod stage;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

pub use interlocking_document::{Place, Problem, Problems};

pub use action_error::{ActionError, ActionProblem};
pub(crate) use duration::{Delay, optional};
pub use memory::MemoryError;
pub use no_match::{NoMatch, Unfit, UnfitTurn};
pub use parse::ScriptError;
pub use script::Script;
pub use stage::Exchange;

use crate::agent::error::{AgentError, AgentErrorKind};
use crate::agent::event::AgentEvent;
use crate::agent::turn::{Reply, Turn};
use crate::agent::usage::Usage;
use crate::agent::{Agent, TurnContext};
use crate::conversation::decision::Decision;
use crate::scripted::command::Surroundings;
use crate::sessions::Sessions;
use crate::sessions::session::SessionId;
use answer::Answer;
use script::{Failure, ScriptTurn, Times, Tokens};
use stage::Stage;

/// An agent that plays a [`Script`]. The [module](self) describes it.
pub struct ScriptedAgent {
    script: Script,
    environment: Vec<(OsString, OsString)>,
    sessions: Sessions,
    stage: Mutex<Stage>,
    memory: Option<PathBuf>,
}

/// A turn of a script that was used less often than expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedTurn {
    /// The turn's first line in the script.
    pub line: usize,
    /// How often the turn was used.
    pub used: u32,
    /// How often the turn should be used: its `times`, or once for `times = "any"`.
    pub expected: u32,
}

impl ScriptedAgent {
    /// An agent at the beginning of the script, without any session.
    pub fn new(script: Script) -> Self {
        let stage = Mutex::new(Stage::new(script.turns.len()));
        Self { script, environment: Vec::new(), sessions: Sessions::new(), stage, memory: None }
    }

    /// An agent at the beginning of the script in `text`; `name` stands for the script in messages.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] with every mistake in the text, each with its place.
    pub fn parse(name: impl Into<String>, text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, ScriptError> {
        Ok(Self::new(Script::parse(name, text)?))
    }

    /// The same with one more environment variable for the agent's commands. They inherit all other variables except
    /// those that set cargo's build directory (such as `CARGO_TARGET_DIR`), because worktrees of one repository must not
    /// share their builds.
    pub fn with_env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), value.into()));
        self
    }

    /// The same with a memory: this file keeps sessions, their histories and the turns that were played to the end. If
    /// the file exists, they are restored from it. So a run that is resumed in another process finds its sessions
    /// again, and a turn that was interrupted by the end of the first process is played again. A turn that was finished
    /// or cancelled is also played again if the new process repeats the last prompt of a session, in the same session
    /// or in a new one: then the first process ended before it used the answer. Only one process may use the file at a
    /// time.
    pub fn with_memory(mut self, file: impl Into<PathBuf>) -> Result<Self, MemoryError> {
        let file = file.into();
        self.stage = Mutex::new(memory::load(&file, self.script.turns.len())?);
        self.memory = Some(file);
        Ok(self)
    }

    /// All prompts and answers of a session, including those that it inherited by a fork. None if there is no such
    /// session.
    pub fn history(&self, session: &SessionId) -> Option<Vec<Exchange>> {
        self.stage().history(session)
    }

    /// The turns that were used less often than expected. A test that ends without unused turns has played the whole
    /// script. A turn with `times = "any"` is expected to be used once.
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

    /// Finds the turn to play (its index) and the session to play it in. Both are reserved at once, so that concurrent
    /// prompts never get the same turn.
    ///
    /// The last value says whether the turn has already been played to its end for this prompt.
    fn begin_turn(&self, turn: &Turn) -> Result<(usize, SessionId, bool), AgentErrorKind> {
        let mut stage = self.stage();
        stage.require(&turn.session)?;
        let is_for_role = |index: usize| matching::is_for(&self.script.turns[index], turn.role.as_deref());
        let repeated = stage.take_repeated(&turn.session, &turn.prompt, is_for_role);
        let index = match repeated {
            Some(played) => played.turn,
            None => matching::choose(&self.script, &stage.used, turn)?,
        };
        let is_counted = repeated.is_some_and(|played| played.is_finished);
        let session = stage.open(&turn.session)?;
        if !is_counted {
            stage.used[index] += 1;
        }
        stage.ask(&session, &turn.prompt, index, is_counted);
        self.save_stage(&stage)?;
        Ok((index, session, is_counted))
    }

    fn finish_turn(
        &self,
        index: usize,
        session: &SessionId,
        is_counted: bool,
        reply: Option<&Reply>,
    ) -> Result<(), AgentErrorKind> {
        let mut stage = self.stage();
        stage.finish(session, index, is_counted);
        if let Some(reply) = reply {
            stage.answer(session, reply);
        }
        self.save_stage(&stage)
    }

    fn save_stage(&self, stage: &Stage) -> Result<(), AgentErrorKind> {
        match &self.memory {
            Some(file) => memory::save(file, stage).map_err(|error| AgentErrorKind::configuration(error.to_string())),
            None => Ok(()),
        }
    }

    async fn play(
        &self,
        context: &TurnContext<'_>,
        turn: &Turn,
        played: &ScriptTurn,
    ) -> Result<Answer, AgentErrorKind> {
        if let Some(delay) = played.delay {
            tokio::time::sleep(delay).await;
        }
        let surroundings = Surroundings { environment: &self.environment, sandbox: turn.sandbox.as_ref() };
        let at = |line| move |problem| ActionError { script: self.script.name.clone(), line, problem };
        for action in &played.actions {
            let acted = act::act(context, action, turn.workspace.as_deref(), &surroundings).await;
            acted.map_err(at(action.line))?;
        }
        if let Some(failure) = played.fail {
            return Err(failure.kind(played.text.as_deref(), played.retry_after));
        }
        let mut answer = Answer::of(played);
        if answer.mentions_head() {
            let workspace = act::existing(turn.workspace.as_deref()).map_err(at(played.line))?;
            answer.replace_head(&git::head(workspace, &surroundings).await.map_err(at(played.line))?);
        }
        Ok(answer)
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

    fn confines(&self) -> bool {
        true
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
        let (index, session, is_counted) = self.begin_turn(turn)?;
        let played = &self.script.turns[index];
        tracing::debug!(script = self.script.name, line = played.line, %session, "playing a turn");
        context.started(&session)?;
        let outcome = tokio::select! {
            biased;
            () = context.interrupted() => Err(AgentErrorKind::Cancelled),
            outcome = self.play(context, turn, played) => outcome,
        };
        let usage = played.usage();
        let outcome = outcome.map(|Answer { output, decisions, text }| Reply {
            output,
            decisions,
            text,
            ..Reply::new(session.clone(), usage)
        });
        if let Ok(reply) = &outcome {
            report(context, reply);
        }
        let left = self.finish_turn(index, &session, is_counted, outcome.as_ref().ok());
        outcome.and_then(|reply| left.map(|()| reply)).map_err(|kind| AgentError::new(kind).in_session(session, usage))
    }
}

fn report(context: &TurnContext<'_>, reply: &Reply) {
    if let Some(text) = &reply.text {
        context.emit(AgentEvent::Text { text: text.clone() });
    }
    for Decision { tool, input } in &reply.decisions {
        context.emit(AgentEvent::ToolUse { name: tool.clone(), input: input.clone() });
    }
}

impl ScriptTurn {
    fn usage(&self) -> Usage {
        let Tokens { input, output } = self.tokens;
        Usage { calls: 1, input_tokens: input, output_tokens: output, cost: self.cost, unpriced_calls: 0 }
    }
}

impl Failure {
    fn kind(self, text: Option<&str>, retry_after: Option<Duration>) -> AgentErrorKind {
        let reason = text.unwrap_or("the script says so").to_owned();
        match self {
            Self::RateLimited => AgentErrorKind::RateLimited { retry_after },
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
