//! Which runs to remove, and which were removed.

use interlocking_core::run_id::RunId;
use std::collections::BTreeSet;
use std::time::Duration;

/// Selects the runs to remove: those that meet every given condition. Without a condition, no run is removed.
///
/// Runs that are being executed are never removed, and runs that have not ended only with
/// [`include_unfinished`](Self::include_unfinished()). A run and its child runs are kept or removed together: a parent that is
/// resumed reads its children's results from their records.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Retention {
    pub(crate) older_than: Option<Duration>,
    pub(crate) keep_last: Option<usize>,
    pub(crate) include_unfinished: bool,
    pub(crate) claimed: BTreeSet<RunId>,
    pub(crate) excepted: BTreeSet<RunId>,
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The removed runs, the oldest first.
    pub runs: Vec<RunId>,
    /// How many payload objects were removed because no run needed them.
    pub objects: u64,
}

impl Retention {
    /// Selects no run.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects runs whose latest record, those of child runs included, is older than `age`.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.older_than = Some(age);
        self
    }

    /// Keeps the `count` runs with the latest records; a run and its child runs count as one. Runs that are kept for another
    /// reason count as well.
    pub fn keep_last(mut self, count: usize) -> Self {
        self.keep_last = Some(count);
        self
    }

    /// Also selects runs that have not ended and that no process executes. Once removed, they cannot be resumed.
    pub fn include_unfinished(mut self) -> Self {
        self.include_unfinished = true;
        self
    }

    /// Keeps these runs, whatever else is selected.
    pub fn except(mut self, runs: impl IntoIterator<Item = RunId>) -> Self {
        self.excepted.extend(runs);
        self
    }

    /// Also selects runs that the caller has claimed, with the journal that removes them. While it holds the claims, no process
    /// takes the runs up, so it can first remove what else belongs to them. A run that another process has claimed is not removed.
    pub fn claimed_by_caller(mut self, runs: impl IntoIterator<Item = RunId>) -> Self {
        self.claimed.extend(runs);
        self
    }
}
