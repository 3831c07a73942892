//! Moving a worktree's own commits onto another commit.

use std::ops::Range;

use crate::{
    checkout::{reset::tree_of, switch::SwitchError},
    merges::{
        compute::{self, Computed, InPlace, OnConflict},
        conflict::Conflict,
        integrate::CherryPickError,
    },
    repository::history::is_ancestor,
    values::{
        git_error::{GitError, Listed},
        id::CommitId,
        signature::Signature,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// Commits could not be rebased. Branch and index are unchanged: there is no rebase in progress, and nothing to abort.
/// The files are unchanged too, unless [`SwitchError::Files`] says that they could not be restored. After a conflict
/// the object database is unchanged, too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebaseError {
    /// A commit conflicts with the ones before it.
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
    /// The branch is at a commit that the result would not have in any form: commits that are neither moved nor in what
    /// they are moved onto would be lost.
    #[error(
        "{head}, where the branch is, is in neither {end} nor {onto}: rebase up to {head}, or reset to {end} first"
    )]
    DropsCommits {
        /// Where the branch is.
        head: CommitId,
        /// The end of the commits to move.
        end: CommitId,
        /// The commit that they were to be moved onto.
        onto: CommitId,
    },
    /// A merge commit is among those to move, which has no single change to apply.
    #[error("{commit} is a merge commit, which cannot be rebased: merge instead")]
    MergeCommit {
        /// The merge commit.
        commit: CommitId,
    },
    /// The worktree could not be moved, for example because of uncommitted changes.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The result of a rebase that does not fail at a conflict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rebased {
    /// The commits that the branch has after the commit that they were rebased onto.
    pub moved: Vec<CommitId>,
    /// The commits that conflicted, in order: those whose lines were dropped, or the commit at which the rebase
    /// stopped.
    pub conflicts: Vec<CommitConflicts>,
}

/// A commit that conflicted with the ones before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitConflicts {
    /// The commit.
    pub commit: CommitId,
    /// The paths, ordered, with both sides.
    pub conflicts: Vec<Conflict>,
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
    /// does; branch, files and index are updated in one step. Returns the commits that the branch has after `onto`.
    ///
    /// Exactly these commits move, whatever else `onto` has or lacks: `start` is the commit that the task began at.
    /// Authors and messages are kept. A commit whose change `onto` has already is dropped, a commit that was empty from
    /// the start is kept, and a commit that is already in its place keeps its id. Signatures are dropped.
    ///
    /// # Errors
    ///
    /// See [`RebaseError`]; after a conflict everything is unchanged.
    pub fn rebase(&self, start: CommitId, onto: CommitId, committer: &Signature) -> Result<Vec<CommitId>, RebaseError> {
        Ok(self.rebase_with(start, None, onto, committer, OnConflict::Refuse)?.moved)
    }

    /// Like [`rebase`](Self::rebase), but prefers `onto`: of lines that both sides have changed, those of the moved
    /// commits are dropped, as by `git rebase --strategy-option=ours`. [`Rebased::conflicts`] has the dropped changes.
    ///
    /// # Errors
    ///
    /// As [`rebase`](Self::rebase), with [`RebaseError::Conflict`] if one side has deleted or renamed a file that the
    /// other has changed.
    pub fn rebase_preferring_onto(
        &self,
        start: CommitId,
        onto: CommitId,
        committer: &Signature,
    ) -> Result<Rebased, RebaseError> {
        self.rebase_with(start, None, onto, committer, OnConflict::PreferOnto)
    }

    /// Like [`rebase`](Self::rebase), up to the first commit of the range that conflicts. Branch, index and files are
    /// then at the last commit that did not conflict, and the files have the conflicting commit's change, with conflict
    /// markers, uncommitted.
    ///
    /// After resolving the conflict, the caller commits and continues with `conflict.commit..range.end`, onto the new
    /// commit. To abort, the caller resets to `range.end`.
    ///
    /// # Errors
    ///
    /// As [`rebase`](Self::rebase), except for conflicts; [`RebaseError::DropsCommits`] if the worktree's head is in
    /// neither `range.end` nor `onto`.
    pub fn rebase_until_conflict(
        &self,
        range: Range<CommitId>,
        onto: CommitId,
        committer: &Signature,
    ) -> Result<Rebased, RebaseError> {
        self.rebase_with(range.start, Some(range.end), onto, committer, OnConflict::Stop)
    }

    /// Moves the commits after `start` up to `end`, or up to the head that the branch is moved away from.
    fn rebase_with(
        &self,
        start: CommitId,
        end: Option<CommitId>,
        onto: CommitId,
        committer: &Signature,
        on_conflict: OnConflict,
    ) -> Result<Rebased, RebaseError> {
        let (git, head) = self.open_with_head()?;
        let end = end.unwrap_or(head);
        let commits = compute::first_parent_range(&git, &(start..end))?;
        if !is_ancestor(&git, head, end)? && !is_ancestor(&git, head, onto)? {
            return Err(RebaseError::DropsCommits { head, end, onto });
        }
        let git = git.with_object_memory();
        let replayed = compute::replay(&git, onto, &commits, committer, InPlace::Stays, on_conflict)?;
        let tip = match replayed.created.last() {
            Some(tip) => *tip,
            None => Computed { commit: onto, tree: tree_of(&git, onto)? },
        };
        let to = Computed { tree: replayed.stopped_with.unwrap_or(tip.tree), ..tip };
        if tip.commit != head || replayed.stopped_with.is_some() {
            let reason = format!("rebase: {} commits after {start} onto {onto}", commits.len());
            self.switch_to_computed(&git, head, to, &committer.git(), reason)?;
        }
        let moved = replayed.created.iter().map(|made| made.commit).collect();
        Ok(Rebased { moved, conflicts: replayed.conflicts })
    }
}
