//! Runs one command with a time limit, captures its output, and ends every process that it started.

use interlocking_agents::program::{Invocation, Line, Running, StartError, StopTimeouts};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How the command ended.
    pub ending: Ending,
    /// The standard output, at most 8 MiB: of longer output the first 7 MiB and the last 1 MiB, separated by a line break.
    /// Invalid UTF-8 is replaced.
    pub stdout: String,
    /// Whether part of standard output is missing: there was more than that, or a line was too long to be kept.
    pub is_cut: bool,
    /// The last 64 KiB of standard error; invalid UTF-8 is replaced.
    pub stderr: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The command exited with this code.
    Exited(i32),
    /// A signal from elsewhere ended the command.
    Killed,
    /// The command ran out of time and was killed with everything that it had started.
    TimedOut,
}

/// A command could not be run, or its result does not count.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The command did not start.
    #[error(
        "cannot start `{command}` in {directory}: {source}; check that the program is installed and that the directory exists"
    )]
    Start {
        /// The command.
        command: String,
        /// The directory in which it should have run.
        directory: PathBuf,
        /// Why it did not start.
        source: StartError,
    },
    /// The end of the command could not be observed.
    #[error("`{command}` in {directory} can no longer be observed: {source}")]
    Wait {
        /// The command.
        command: String,
        /// The directory in which it ran.
        directory: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A file outside the checkout that affects builds has changed since the runner was made, or has more than 1 MiB, so that a
    /// change would not be seen.
    #[error(
        "{} has changed since this run began, or has more than 1 MiB, and it decides how everything is built: check what changed it, then start again",
        path.display()
    )]
    SettingsChanged {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory that the runner needs for a command could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The path that could not be read or written.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A directory that the command could write to is still there.
    #[error("{} cannot be deleted, and the code under test could write there: {source}; delete it by hand", path.display())]
    NotDeleted {
        /// The directory.
        path: PathBuf,
        /// Why it cannot be deleted.
        source: io::Error,
    },
    /// A [`Recorder`](crate::Recorder) has no answer for the command.
    #[error("the recorder has no answer for `{command}`; give it one, or one for every command")]
    Unanswered {
        /// The command.
        command: String,
    },
    /// The toolchain has no command of that name.
    #[error(
        "the toolchain has no command `{name}`; it has {}: add it to `commands`, or ask for one of these",
        known.join(", ")
    )]
    UnknownCommand {
        /// The name that was asked for.
        name: String,
        /// The names of the toolchain's commands.
        known: Vec<String>,
    },
    /// The harness is Rust's own, but the command is not a `cargo test`.
    #[error(transparent)]
    NotCargoTest(#[from] crate::cargo_test::NotCargoTest),
}

/// The number of bytes kept from the beginning of standard output. All of it is read, so that the command never blocks.
const BEGINNING_KEPT: usize = 7 * 1024 * 1024;

/// The number of bytes kept from the end of standard output: the last output of a test, and what the harness prints after it.
const END_KEPT: usize = 1024 * 1024;

/// The number of bytes kept from the end of standard error.
pub(super) const STDERR_KEPT: usize = 64 * 1024;

/// Runs a command to its end. If its time is up or this future is dropped, the command is killed with everything that it started.
pub(super) async fn run(command: &str, invocation: Invocation, time_limit: Duration) -> Result<Finished, RunError> {
    let directory = invocation.directory.clone().unwrap_or_default();
    tracing::debug!(command, directory = %directory.display(), "running");
    let started = Invocation { stderr_kept: STDERR_KEPT, ..invocation }.start().await;
    let failed = |source| RunError::Wait { command: command.to_owned(), directory: directory.clone(), source };
    let mut running = started.map_err(|source| RunError::Start {
        command: command.to_owned(),
        directory: directory.clone(),
        source,
    })?;
    let mut output = Output::default();
    let in_time = match tokio::time::timeout(time_limit, output.read(&mut running)).await {
        Ok(read) => {
            read.map_err(failed)?;
            true
        }
        Err(_) => false,
    };
    let (stdout, is_cut) = output.text();
    if !in_time {
        running.stop(&StopTimeouts::AT_ONCE).await.map_err(failed)?;
    }
    let ended = running.end().await.map_err(failed)?;
    let ending = match ended.exit {
        _ if !in_time => Ending::TimedOut,
        Some(code) => Ending::Exited(code),
        None => Ending::Killed,
    };
    Ok(Finished { ending, stdout, is_cut, stderr: ended.stderr })
}

/// The kept part of a command's standard output.
#[derive(Default)]
struct Output {
    beginning: Vec<u8>,
    end: Vec<u8>,
    is_cut: bool,
}

impl Output {
    /// Reads until the command has ended, as a command may close its output and go on.
    async fn read(&mut self, running: &mut Running) -> io::Result<()> {
        while let Some(line) = running.next_line().await? {
            match line {
                Line::Whole(line) => {
                    self.push(line);
                    self.push(b"\n");
                }
                Line::TooLong { .. } => self.is_cut = true,
            }
        }
        running.wait().await
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = BEGINNING_KEPT.saturating_sub(self.beginning.len()).min(bytes.len());
        let (first, more) = bytes.split_at(room);
        self.beginning.extend_from_slice(first);
        self.end.extend_from_slice(more);
        // Cut rarely: cutting each time would move the whole buffer for every line.
        if self.end.len() > 2 * END_KEPT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.end.len().saturating_sub(END_KEPT);
        if surplus > 0 {
            self.is_cut = true;
            self.end.drain(..surplus);
            // Keeps the halves of two different lines apart.
            if !self.beginning.ends_with(b"\n") {
                self.beginning.push(b'\n');
            }
        }
    }

    /// The kept output as text, and whether any is missing.
    fn text(mut self) -> (String, bool) {
        self.cut();
        self.beginning.append(&mut self.end);
        (String::from_utf8_lossy(&self.beginning).into_owned(), self.is_cut)
    }
}
