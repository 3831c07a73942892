//! The active runs, for operations on a run's workspaces without the run's context.

use crate::git_run::{GitRun, State};
use interlocking_core::run_id::RunId;
use std::sync::{Mutex, PoisonError, Weak};

/// The runs that were started or resumed with the same workspaces and are not over.
#[derive(Default)]
pub(crate) struct ActiveRuns(Mutex<Vec<Weak<State>>>);

impl ActiveRuns {
    /// Adds a run, and forgets those that are over.
    pub(crate) fn add(&self, run: &GitRun) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|run| run.strong_count() > 0);
        runs.push(std::sync::Arc::downgrade(&run.0));
    }

    /// The run of this name that was added last.
    pub(crate) fn get(&self, name: &RunId) -> Option<GitRun> {
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut there = runs.iter().rev().filter_map(Weak::upgrade);
        there.find(|run| run.names.run == *name).map(GitRun)
    }
}
