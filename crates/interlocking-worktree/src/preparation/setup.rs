//! The user's setup command for a new worktree, such as one that fetches dependencies or builds.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A command that runs in each new worktree before any agent works there. It runs without a shell, and does not inherit
/// this process's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
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
}

impl Setup {
    /// A program and its arguments. A program without a slash is looked for in the absolute directories of the `PATH`
    /// in the environment given to it; if no `PATH` is given, it is a program in the worktree's root.
    pub fn new<A: Into<OsString>>(program: impl Into<OsString>, arguments: impl IntoIterator<Item = A>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
        }
    }

    /// Adds a variable to its environment, which is otherwise empty.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Runs the command in `place` with empty standard input, and waits until it and all processes that hold its output
    /// have ended.
    ///
    /// # Errors
    ///
    /// [`SetupError`] if it cannot be started or fails, with what it printed.
    pub fn run(&self, place: &Path) -> Result<(), SetupError> {
        let program = PathBuf::from(&self.program);
        let path = self.environment.iter().rev().find(|(name, _)| name == OsStr::new("PATH"));
        let not_started =
            |cause: String| SetupError::NotStarted { program: program.clone(), place: place.to_owned(), cause };
        let found = find(&self.program, path.map(|(_, path)| path.as_os_str()))
            .ok_or_else(|| not_started("it is in no absolute directory of the `PATH` that it is given".to_owned()))?;
        let ran = Command::new(found)
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(place)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| not_started(error.to_string()))?;
        if ran.status.success() {
            return Ok(());
        }
        Err(SetupError::Failed {
            program,
            place: place.to_owned(),
            code: ran.status.code(),
            output: tail(&ran.stdout),
            error: tail(&ran.stderr),
        })
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

fn tail(bytes: &[u8]) -> String {
    const LONGEST: usize = 64 * 1024;
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LONGEST)..]).into_owned()
}

/// The last lines of its output, for a message.
fn last_lines(error: &str, output: &str) -> String {
    const LINES: usize = 5;
    let said = if error.trim().is_empty() { output } else { error };
    let lines: Vec<&str> = said.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
