//! The state of a workspace, and the order of its commits.

use interlocking_worktree::{CommitId, Worktree};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of a workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The commit that it began at.
    pub(crate) base: Option<CommitId>,
    /// The commit that it must be at.
    pub(crate) at: Option<CommitId>,
    /// The worktree or clone, if it has been made.
    pub(crate) worktree: Option<Worktree>,
    /// The commits that it has been at in this process, in order.
    history: Vec<CommitId>,
    /// How many of these, from the first on, need not be recorded in the journal any more.
    recorded: usize,
}

impl Place {
    /// Sets the commit that it must be at.
    pub(crate) fn set_current(&mut self, commit: CommitId) {
        if self.at != Some(commit) || self.history.is_empty() {
            self.history.push(commit);
        }
        self.at = Some(commit);
    }

    /// Called before `commit` is recorded in the journal as made here. Returns the commit to use instead, if the
    /// journal already has one that was made later. Nodes that work in parallel, and children, are not recorded in the
    /// order in which they commit.
    pub(crate) fn recorded(&mut self, commit: CommitId) -> Option<CommitId> {
        let made = self.history.iter().rposition(|at| *at == commit)? + 1;
        if made >= self.recorded {
            self.recorded = made;
            return None;
        }
        self.history.get(self.recorded.wrapping_sub(1)).copied()
    }

    /// Whether the journal has the commit that it must be at.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded == self.history.len()
    }
}

/// The workspaces of one run, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Arc<Mutex<BTreeMap<String, Place>>>);

impl Places {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_later_counts_whichever_is_recorded_first() {
        let [first, second, third] = ["1", "2", "3"].map(|digit| digit.repeat(40).parse::<CommitId>().unwrap());
        let mut place = Place::default();
        for commit in [first, second, third] {
            place.set_current(commit);
        }
        assert_eq!(place.recorded(second), None);
        assert!(!place.is_recorded());
        assert_eq!(place.recorded(first), Some(second), "it lies below what the journal has");
        assert_eq!(place.recorded(second), None, "once more");
        assert_eq!(place.recorded(third), None);
        assert!(place.is_recorded());
        assert_eq!(place.recorded("4".repeat(40).parse().unwrap()), None, "a commit that these do not know");
    }
}
