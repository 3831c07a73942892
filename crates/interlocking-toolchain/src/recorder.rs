//! A test double for this system's programs, for tests of code that runs commands.

use super::command::CommandLine;
use super::execution::{self, Ending, Finished, RunError};
use interlocking_agents::program::Invocation;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Records which commands are run, in which directory and with which environment, and returns predefined answers. No program is
/// started.
///
/// ```
/// # use interlocking_toolchain::*;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
///
/// let build = CommandLine::new("cargo", &["build", "--all-targets"]);
/// let recorder = Arc::new(Recorder::new().answer(build, Recorder::exit(1, "no")));
/// # let target = std::env::temp_dir();
/// let runner = Runner::with_weaker_isolation(Toolchain::default(), target, "/srv").with_recorder(recorder.clone());
/// let built = runner.build(&Checkout::at("/srv/checkout")).await?;
/// assert_eq!(built.diagnostics(), "no\n");
/// assert_eq!(recorder.calls()[0].command.to_string(), "cargo build --all-targets");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Recorder {
    answers: Mutex<VecDeque<(CommandLine, Finished)>>,
    default_answer: Option<Finished>,
    calls: Mutex<Vec<RecordedCall>>,
}

/// A command that would have been run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    /// The program and its arguments.
    pub command: CommandLine,
    /// The directory in which it would have run.
    pub directory: PathBuf,
    /// The command's environment, without the variables that a sandbox adds.
    pub environment: BTreeMap<String, String>,
    /// Whether the command would have been confined.
    pub is_sandboxed: bool,
    /// The command's time limit.
    pub time_limit: Duration,
}

impl Recorder {
    /// A recorder that refuses every command for which it has no answer ([`RunError::Unanswered`]).
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer for a command, to be used once. Several answers for one command are used in order.
    #[must_use]
    pub fn answer(self, command: CommandLine, answer: Finished) -> Self {
        lock(&self.answers).push_back((command, answer));
        self
    }

    /// Sets the answer for every command that has none of its own.
    #[must_use]
    pub fn with_default_answer(self, answer: Finished) -> Self {
        Self { default_answer: Some(answer), ..self }
    }

    /// An answer with an exit code and a text on standard output.
    pub fn exit(code: i32, stdout: &str) -> Finished {
        Finished { ending: Ending::Exited(code), stdout: stdout.to_owned(), is_cut: false, stderr: String::new() }
    }

    /// The commands that were run so far, in order.
    pub fn calls(&self) -> Vec<RecordedCall> {
        lock(&self.calls).clone()
    }

    fn run(&self, invocation: &Invocation, time_limit: Duration) -> Result<Finished, RunError> {
        let words: Vec<_> = invocation.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let command = CommandLine::new(&invocation.program.to_string_lossy(), &words);
        let variables = invocation.environment.variables();
        let readable = variables.map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()));
        lock(&self.calls).push(RecordedCall {
            command: command.clone(),
            directory: invocation.directory.clone().unwrap_or_default(),
            environment: readable.collect(),
            is_sandboxed: invocation.sandbox.is_some(),
            time_limit,
        });
        let mut answers = lock(&self.answers);
        let answer = answers.iter().position(|(of, _)| *of == command).and_then(|at| answers.remove(at));
        let answer = answer.map(|(_, answer)| answer).or_else(|| self.default_answer.clone());
        answer.ok_or_else(|| RunError::Unanswered { command: command.to_string() })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What runs commands.
#[derive(Debug, Clone, Default)]
pub(super) enum Programs {
    /// This system.
    #[default]
    Real,
    /// A recorder, which starts nothing.
    Recorded(Arc<Recorder>),
}

impl Programs {
    /// Whether commands start programs of this system.
    pub(super) fn are_real(&self) -> bool {
        matches!(self, Self::Real)
    }

    /// Runs a command to its end.
    pub(super) async fn run(
        &self,
        command: &str,
        invocation: Invocation,
        time_limit: Duration,
    ) -> Result<Finished, RunError> {
        match self {
            Self::Real => execution::run(command, invocation, time_limit).await,
            Self::Recorded(recorder) => recorder.run(&invocation, time_limit),
        }
    }
}
