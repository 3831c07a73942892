//! The user's setup command for a worktree, such as one that fetches dependencies or builds.

use super::process::{self, Ending};
use super::secrets::Secrets;
use std::{
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::Duration,
};

/// The default time limit.
const TIME_LIMIT: Duration = Duration::from_secs(10 * 60);

/// A command that prepares a worktree: when it is made, and again when it is reset. It runs without a shell, and does
/// not inherit this process's environment.
///
/// It runs what the worktree's commit contains, such as the scripts of a `package.json`, and an agent may have written
/// that. [`run`](Self::run) does not confine it: it can do what this process's user can do.
/// [`run_with`](Self::run_with) lets the caller start it confined.
#[derive(Clone, PartialEq, Eq)]
pub struct Setup {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    time_limit: Duration,
}

/// The setup command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// It could not be started.
    #[error("{} could not be started in {}: {cause}; give its full path, or PATH in its environment", program.display(), place.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// The worktree.
        place: PathBuf,
        /// The system's reason.
        cause: String,
    },
    /// It failed.
    #[error("{} in {} ended with {}: {}", program.display(), place.display(), code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}")), last_lines(error, output))]
    Failed {
        /// The program.
        program: PathBuf,
        /// The worktree.
        place: PathBuf,
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// The last 64 KiB of its standard output.
        output: String,
        /// The last 64 KiB of its standard error.
        error: String,
    },
    /// It was killed at its time limit.
    #[error("{} in {} was killed, because it had not ended after its time limit of {limit:?}; `Setup::with_time_limit` sets another{}", program.display(), place.display(), said(error, output))]
    TimedOut {
        /// The program.
        program: PathBuf,
        /// The worktree.
        place: PathBuf,
        /// The time limit.
        limit: Duration,
        /// The last 64 KiB of its standard output.
        output: String,
        /// The last 64 KiB of its standard error.
        error: String,
    },
    /// It was killed because its caller stopped it.
    #[error("{} in {} was stopped before it had ended", program.display(), place.display())]
    Stopped {
        /// The program.
        program: PathBuf,
        /// The worktree.
        place: PathBuf,
    },
}

impl Setup {
    /// A program and its arguments. A program without a slash is looked for in the absolute directories of the `PATH`
    /// in the environment given to it; if no `PATH` is given, it is a program in the worktree's root.
    pub fn new<A: Into<OsString>>(program: impl Into<OsString>, arguments: impl IntoIterator<Item = A>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            time_limit: TIME_LIMIT,
        }
    }

    /// Adds a variable to its environment, which is otherwise empty. Its value may be a secret: where the command prints
    /// it, or a line of it, as it is, a [`SetupError`] has `[redacted]` instead. Values and lines of less than eight bytes
    /// are shown, and absolute paths of directories.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets the time after which the command and its process group are killed. The default is ten minutes.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// The file of the program that [`run`](Self::run) starts; a relative path is relative to the worktree. None if the
    /// program is in no absolute directory of the `PATH` that it is given.
    #[must_use]
    pub fn program(&self) -> Option<PathBuf> {
        let path = self.environment.iter().rev().find(|(name, _)| name == OsStr::new("PATH"));
        find(&self.program, path.map(|(_, path)| path.as_os_str()))
    }

    /// Runs the command in `place` with empty standard input, in a process group of its own. Waits until it and all
    /// processes that hold its output have ended. Then, or at the time limit, what is left of the group is killed; another
    /// process that has left the group is not.
    ///
    /// # Errors
    ///
    /// [`SetupError`] if it cannot be started, fails, or does not end in time, with what it printed.
    pub fn run(&self, place: &Path) -> Result<(), SetupError> {
        self.run_with(place, Command::spawn, || false)
    }

    /// Like [`run`](Self::run), but `start` spawns the command, for example confined and with more variables. Once
    /// `is_stopped` returns true, it and its process group are killed. `is_stopped` is called several times a second.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); [`SetupError::NotStarted`] with the error of `start`; [`SetupError::Stopped`].
    pub fn run_with(
        &self,
        place: &Path,
        start: impl FnOnce(&mut Command) -> io::Result<Child>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<(), SetupError> {
        let program = PathBuf::from(&self.program);
        let not_started =
            |cause: String| SetupError::NotStarted { program: program.clone(), place: place.to_owned(), cause };
        let found = self
            .program()
            .ok_or_else(|| not_started("it is in no absolute directory of the `PATH` that it is given".to_owned()))?;
        let mut command = Command::new(found);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(place);
        // The path of a directory, as of a home, is no secret, and an error without it tells less.
        let values = self.environment.iter().map(|(_, value)| value.as_os_str());
        let secrets = Secrets::of(values.filter(|value| !Path::new(value).is_absolute() || !Path::new(value).is_dir()));
        let ended = process::run(&mut command, self.time_limit, &secrets, start, is_stopped)
            .map_err(|error| not_started(error.to_string()))?;
        let (place, output, error) = (place.to_owned(), ended.output, ended.error);
        match ended.ending {
            Ending::Exited if ended.status.success() => Ok(()),
            Ending::Exited => Err(SetupError::Failed { program, place, code: ended.status.code(), output, error }),
            Ending::TimedOut => Err(SetupError::TimedOut { program, place, limit: self.time_limit, output, error }),
            Ending::Stopped => Err(SetupError::Stopped { program, place }),
        }
    }
}

impl fmt::Debug for Setup {
    /// Without the values of variables, which may be secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, arguments, environment, time_limit } = self;
        let variables: Vec<_> = environment.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Setup")
            .field("program", program)
            .field("arguments", arguments)
            .field("variables", &variables)
            .field("time_limit", time_limit)
            .finish()
    }
}

/// Finds the program here, so that the result does not depend on this process's own `PATH` and is not a file of the
/// worktree by chance.
fn find(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let is_name = Path::new(program).components().count() == 1;
    match path {
        _ if !is_name => Some(program.into()),
        None => Some(Path::new("./").join(program)),
        Some(path) => {
            let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
            directories.map(|directory| directory.join(program)).find(|file| file.is_file())
        }
    }
}

/// The last lines of its output, for a message.
fn last_lines(error: &str, output: &str) -> String {
    const LINES: usize = 5;
    let said = if error.trim().is_empty() { output } else { error };
    let lines: Vec<&str> = said.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// The last lines of its output as the end of a message; empty if it printed nothing.
fn said(error: &str, output: &str) -> String {
    match last_lines(error, output) {
        lines if lines.is_empty() => lines,
        lines => format!("; it printed last: {lines}"),
    }
}
