//! Which runs are removed, and what was.

use interlocking_core::run_id::RunId;
use std::time::Duration;

/// Which runs go. Each condition that is given must hold of a run; with none given, no run goes.
///
/// Runs that somebody works on are never removed, and runs that have not ended only if that is said. A run and its child
/// runs stay or go together, as one: what a child came to is known to nobody else, should its parent be resumed.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Retention {
    pub(crate) older_than: Option<Duration>,
    pub(crate) keep_last: Option<usize>,
    pub(crate) unfinished_too: bool,
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The runs, the oldest first.
    pub runs: Vec<RunId>,
    /// How many payload objects nobody needed any more.
    pub objects: u64,
}

impl Retention {
    /// No run goes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs go whose latest record is older than this.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.older_than = Some(age);
        self
    }

    /// Runs go that are not among the latest `count`, by their latest records. Runs that stay for another reason count.
    pub fn keep_last(mut self, count: usize) -> Self {
        self.keep_last = Some(count);
        self
    }

    /// Runs go too that have not ended and that nobody works on: they cannot be resumed any more.
    pub fn unfinished_too(mut self) -> Self {
        self.unfinished_too = true;
        self
    }
}
