//! What the program's set-up functions are told of the run.

use crate::console::Console;
use crate::error::CommandError;
use interlocking_core::run_id::RunId;
use interlocking_runtime::{CancelToken, Journal};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The start of a run, or of its continuation.
#[derive(Clone)]
#[non_exhaustive]
pub struct Start {
    /// The program's name.
    pub program: &'static str,
    /// The run's name.
    pub run: RunId,
    /// Whether the run was started before.
    pub is_resumed: bool,
    /// Whether the run has failed and is retried (`resume --retry`).
    pub is_retried: bool,
    /// Triggered when the user interrupts the program. Slow work before the run should watch it.
    pub cancel: CancelToken,
    /// The journal that records the run.
    pub journal: Arc<dyn Journal>,
    /// The directory of the journal.
    pub directory: PathBuf,
    /// Whether the user accepts less isolation than is demanded (`--accept-weaker-isolation`): for programs that the set-up
    /// function confines itself.
    pub accepts_weaker_isolation: bool,
    /// The console for messages to the user.
    pub console: Console,
    /// Whether the user asked for JSON.
    pub(crate) json: bool,
}

impl Start {
    /// What the clean-up of a run is told that no process executes.
    pub(crate) fn of_clean_up(
        program: &'static str,
        run: RunId,
        journal: Arc<dyn Journal>,
        directory: PathBuf,
        (console, json, cancel): (&Console, bool, &CancelToken),
    ) -> Self {
        let (console, cancel) = (console.clone(), cancel.clone());
        let (is_resumed, is_retried, accepts_weaker_isolation) = (true, false, false);
        Self {
            program,
            run,
            is_resumed,
            is_retried,
            cancel,
            journal,
            directory,
            accepts_weaker_isolation,
            console,
            json,
        }
    }

    /// Prints an error after which the command goes on: as JSON with `--json`, and as lines otherwise.
    pub fn tell(&self, error: &CommandError) {
        error.tell(&self.console, self.json);
    }
}

/// No options: for a program that needs none.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct NoArguments {}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut start = f.debug_struct("Start");
        start.field("run", &self.run).field("is_resumed", &self.is_resumed).field("is_retried", &self.is_retried);
        start.field("directory", &self.directory);
        start.finish_non_exhaustive()
    }
}
