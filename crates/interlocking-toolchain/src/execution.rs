//! One command: a time limit, captured output, and no survivors.

use interlocking_agents::program::{Invocation, Line, Running, StartError, StopOrder};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output, at most 8 MiB: of more the first 7 and the last 1, each on lines of its own; invalid UTF-8 replaced.
    pub stdout: String,
    /// Whether it wrote more to standard output than that, or lines too long to be kept.
    pub is_cut: bool,
    /// Its standard error, at most 64 KiB from the end; likewise.
    pub stderr: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Exited(i32),
    /// A signal from elsewhere ended it.
    Killed,
    /// It ran out of time and was killed with everything it had started.
    TimedOut,
}

/// A command could not be run at all, or not so that its result would count.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start.
    #[error(
        "cannot start `{command}` in {directory}: {source}; check that the program is installed and that the directory exists"
    )]
    Start {
        /// The command.
        command: String,
        /// Where it was to run.
        directory: PathBuf,
        /// Why it did not start.
        source: StartError,
    },
    /// Its end could not be observed.
    #[error("lost sight of `{command}` in {directory}: {source}")]
    Wait {
        /// The command.
        command: String,
        /// Where it ran.
        directory: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A file that decides how everything is built is not what it was when the run began.
    #[error(
        "{} has changed since this run began, and it decides how builds go: somebody who was not to has written it, or you have; look at it, and start again",
        path.display()
    )]
    SettingsChanged {
        /// The file.
        path: PathBuf,
    },
    /// What is needed around a command could not be made.
    #[error("{}: {source}", path.display())]
    File {
        /// What could not be read or written.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A [`Recorder`](crate::Recorder) has no answer.
    #[error("the recorder has no answer for `{command}`; give it one, or one for every command")]
    Unanswered {
        /// The command.
        command: String,
    },
    /// There is no command of that name.
    #[error(
        "the toolchain has no command `{name}`; it has {}: add it to `commands`, or ask for one of these",
        known.join(", ")
    )]
    UnknownCommand {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The harness is Rust's own, and the test command is not one that it can be used with.
    #[error(transparent)]
    NotCargoTest(#[from] crate::cargo_test::NotCargoTest),
}

/// How many bytes of the beginning of standard output are kept. More is read, so that the command never blocks.
const BEGINNING_KEPT: usize = 7 * 1024 * 1024;

/// How many bytes of its end are kept besides: a test's last words, and what its harness says after them.
const END_KEPT: usize = 1024 * 1024;

/// How many bytes of the end of standard error are kept.
pub(super) const ERRORS_KEPT: usize = 64 * 1024;

/// Runs a command to its end. When time is up, or when this future is dropped, it is killed with everything that came of it.
pub(super) async fn run(command: &str, invocation: Invocation, time_limit: Duration) -> Result<Finished, RunError> {
    let directory = invocation.directory.clone().unwrap_or_default();
    tracing::debug!(command, directory = %directory.display(), "running");
    let started = Invocation { errors_kept: ERRORS_KEPT, ..invocation }.start().await;
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
        running.stop(&StopOrder::AT_ONCE).await.map_err(failed)?;
    }
    let ended = running.end().await.map_err(failed)?;
    let ending = match ended.exit {
        _ if !in_time => Ending::TimedOut,
        Some(code) => Ending::Exited(code),
        None => Ending::Killed,
    };
    Ok(Finished { ending, stdout, is_cut, stderr: ended.stderr })
}

/// What is kept of what a command has written to standard output so far.
#[derive(Default)]
struct Output {
    beginning: Vec<u8>,
    end: Vec<u8>,
    is_cut: bool,
}

impl Output {
    /// Reads until it has ended: a command that has closed its output goes on.
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
        // Not each time: that would move everything for every line.
        if self.end.len() > 2 * END_KEPT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.end.len().saturating_sub(END_KEPT);
        if surplus > 0 {
            self.is_cut = true;
            self.end.drain(..surplus);
            // Halves of two lines are no line.
            if !self.beginning.ends_with(b"\n") {
                self.beginning.push(b'\n');
            }
        }
    }

    /// As text, and whether that is not all of it.
    fn text(mut self) -> (String, bool) {
        self.cut();
        self.beginning.append(&mut self.end);
        (String::from_utf8_lossy(&self.beginning).into_owned(), self.is_cut)
    }
}

/// A directory for what a command writes for the moment. It lies beside the checkout, so that it goes with that where this process is killed.
pub(super) fn temporary_beside(checkout: &Path) -> Result<TempDir, RunError> {
    let directory = checkout.parent().unwrap_or(checkout);
    tempfile::tempdir_in(directory).map_err(|source| RunError::File { path: directory.to_owned(), source })
}
