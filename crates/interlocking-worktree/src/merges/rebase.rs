//! Moving a worktree's own commits onto another commit.

use crate::{
    checkout::{reset::tree_of, switch::SwitchError},
    merges::{
        compute::{self, Computed, InPlace},
        conflict::Conflict,
        integrate::CherryPickError,
    },
    values::{
        git_error::{GitError, Listed},
        id::CommitId,
        signature::Signature,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// Commits could not be rebased. Branch, index, files and object database are as they were: there is no rebase in
/// progress, and nothing to abort.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebaseError {
    /// A commit does not fit onto the ones before it.
    #[error("rebasing {commit} conflicts in {}", Listed(conflicts))]
    Conflict {
        /// The commit.
        commit: CommitId,
        /// The paths, ordered.
        conflicts: Vec<Conflict>,
    },
    /// The commits to move do not lead back from the head to the given start through first parents.
    #[error("{start} is not behind {head}: which commits are to be moved is not clear")]
    NotBehind {
        /// The start as given.
        start: CommitId,
        /// The head of the commits to move.
        head: CommitId,
    },
    /// A merge commit is among those to move, of which there is no one change to apply.
    #[error("{commit} is a merge commit, which cannot be rebased: merge instead")]
    MergeCommit {
        /// The merge commit.
        commit: CommitId,
    },
    /// The worktree could not be moved, because of uncommitted changes for one.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl From<WorktreeError> for RebaseError {
    fn from(error: WorktreeError) -> Self {
        Self::Switch(error.into())
    }
}

impl From<CherryPickError> for RebaseError {
    fn from(error: CherryPickError) -> Self {
        match error {
            CherryPickError::Conflict { commit, conflicts } => Self::Conflict { commit, conflicts },
            CherryPickError::NotARange { base, tip } => Self::NotBehind { start: base, head: tip },
            CherryPickError::MergeCommit { commit } => Self::MergeCommit { commit },
            CherryPickError::Switch(error) => Self::Switch(error),
            CherryPickError::Git(error) => Self::Git(error),
        }
    }
}

impl Worktree {
    /// Moves the commits after `start` up to this worktree's head onto `onto`, as `git rebase --onto <onto> <start>`
    /// does; branch, files and index follow in one step. Returns the commits that the branch now has after `onto`.
    ///
    /// Exactly these commits move, whatever else `onto` lacks or has: `start` is the commit that the task began at.
    /// Authors and messages stay. A commit whose change `onto` has already is dropped, one that changed nothing from
    /// the start is kept, and one that stands where it belongs keeps its id. Signatures are dropped.
    ///
    /// # Errors
    ///
    /// See [`RebaseError`]; on each of them everything is as it was.
    pub fn rebase(&self, start: CommitId, onto: CommitId, committer: &Signature) -> Result<Vec<CommitId>, RebaseError> {
        let (git, head) = self.open_with_head()?;
        let commits = compute::line(&git, &(start..head))?;
        let git = git.with_object_memory();
        let moved = compute::replay(&git, onto, &commits, committer, InPlace::Stays)?;
        let tip = match moved.last() {
            Some(tip) => *tip,
            None => Computed { commit: onto, tree: tree_of(&git, onto)? },
        };
        if tip.commit != head {
            let reason = format!("rebase: {} commits after {start} onto {onto}", commits.len());
            self.take_over(&git, head, tip, &committer.git(), reason)?;
        }
        Ok(moved.iter().map(|made| made.commit).collect())
    }
}
