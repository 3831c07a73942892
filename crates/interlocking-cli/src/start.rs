//! What a program's options know of the run that they are for.

use crate::console::Console;
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
    /// Whether it was started before.
    pub is_resumed: bool,
    /// Whether it is resumed although it has failed (`resume --retry`).
    pub is_retried: bool,
    /// Requested when the user interrupts the program: what takes its time beforehand should listen.
    pub cancel: CancelToken,
    /// The journal that records the run.
    pub journal: Arc<dyn Journal>,
    /// The directory that the journal is in.
    pub directory: PathBuf,
    /// Whether the user goes on where this system isolates less than is wanted (`--accept-weaker-isolation`): for what a program
    /// confines by itself.
    pub accepts_weaker_isolation: bool,
    /// Where to print what the user should know.
    pub console: Console,
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
