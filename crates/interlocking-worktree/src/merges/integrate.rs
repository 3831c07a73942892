//! Applying other commits to a worktree: cherry-pick, merge, squash.
//!
//! The results are computed in memory first ([`crate::merges::compute`]). A conflict is found before any object, file
//! or reference is written.

use std::ops::Range;

use crate::{
    checkout::{
        reset::tree_of,
        switch::{Switch, SwitchError, Uncommitted},
    },
    commits::commit::MessageError,
    merges::{
        compute::{self, Computed, InPlace, Keep, OnConflict},
        conflict::Conflict,
    },
    untrusted,
    values::{
        git_error::{GitError, Listed},
        id::CommitId,
        signature::Signature,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// Commits could not be cherry-picked. Branch and index are unchanged, and so are the files, unless
/// [`SwitchError::Files`] says that they could not be restored. After a conflict the object database is unchanged, too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CherryPickError {
    /// A commit conflicts with the worktree's commit.
    #[error("picking {commit} conflicts in {}", Listed(conflicts))]
    Conflict {
        /// The commit.
        commit: CommitId,
        /// The paths, ordered.
        conflicts: Vec<Conflict>,
    },
    /// The range does not lead back from its end to its start through first parents.
    #[error("{base} is not behind {tip}: a range to pick is a line of commits")]
    NotARange {
        /// The range's start.
        base: CommitId,
        /// The range's end.
        tip: CommitId,
    },
    /// The range has a merge commit, which has no single change to pick.
    #[error("{commit} is a merge commit, which cannot be picked")]
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

/// A commit could not be merged. Branch and index are unchanged, and so are the files, unless [`SwitchError::Files`]
/// says that they could not be restored. After a conflict the object database is unchanged, too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The two sides conflict.
    #[error("merging {commit} conflicts in {}", Listed(conflicts))]
    Conflict {
        /// The commit that was to be merged.
        commit: CommitId,
        /// The paths, ordered.
        conflicts: Vec<Conflict>,
    },
    /// The message is not valid.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The two have no commit in common.
    #[error("{ours} and {theirs} have no commit in common")]
    Unrelated {
        /// The worktree's commit.
        ours: CommitId,
        /// The commit that was to be merged.
        theirs: CommitId,
    },
    /// The worktree could not be moved, for example because of uncommitted changes.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl From<WorktreeError> for CherryPickError {
    fn from(error: WorktreeError) -> Self {
        Self::Switch(error.into())
    }
}

impl From<WorktreeError> for MergeError {
    fn from(error: WorktreeError) -> Self {
        Self::Switch(error.into())
    }
}

impl Worktree {
    /// Applies the commits after `range.start` up to `range.end`, oldest first, each as a new commit with its author
    /// and message; then updates branch, files and index in one step. Returns the new commits.
    ///
    /// A commit whose change is there already is dropped. A commit that was empty from the start is kept, as by
    /// `git cherry-pick --allow-empty --empty=drop`. Signatures of commits are dropped, since they would not be valid.
    /// Untracked files that are not in the way stay.
    ///
    /// # Errors
    ///
    /// See [`CherryPickError`]. After a conflict everything is unchanged, even if only the third of five commits
    /// conflicts.
    pub fn cherry_pick(&self, range: Range<CommitId>, committer: &Signature) -> Result<Vec<CommitId>, CherryPickError> {
        let (git, head) = self.open_with_head()?;
        let commits = compute::first_parent_range(&git, &range)?;
        let git = git.with_object_memory();
        let created = compute::replay(&git, head, &commits, committer, InPlace::Recreated, OnConflict::Refuse)?.created;
        if let Some(tip) = created.last() {
            let reason = format!("cherry-pick: {} commits up to {}", commits.len(), range.end);
            self.switch_to_computed(&git, head, *tip, &committer.git(), reason)?;
        }
        Ok(created.iter().map(|made| made.commit).collect())
    }

    /// Writes the result of picking `commit` into the working tree and the index, with conflict markers where
    /// [`Worktree::cherry_pick`] would refuse, and commits nothing. The caller resolves the conflicts and then calls
    /// [`Worktree::commit_all`]. Returns the conflicts; without conflicts, the change is written all the same.
    ///
    /// If one side deleted a file, the other side's file is written; of a binary file, ours.
    ///
    /// # Errors
    ///
    /// As [`Worktree::cherry_pick`], except for conflicts.
    pub fn pick_for_resolution(&self, commit: CommitId) -> Result<Vec<Conflict>, CherryPickError> {
        let (git, head) = self.open_with_head()?;
        let git = git.with_object_memory();
        if git.find_commit(commit.git()).is_ok_and(|commit| commit.parent_ids().count() > 1) {
            return Err(CherryPickError::MergeCommit { commit });
        }
        untrusted::index::check_for_gix(&git)?;
        let (tree, conflicts) = compute::apply(&git, commit, tree_of(&git, head)?, None)?;
        self.switch_to_computed(&git, head, Computed { commit: head, tree }, &Signature::runtime(), String::new())?;
        Ok(conflicts)
    }

    /// Merges `other` with a merge commit, even where a fast-forward would do. None if `other` is an ancestor of this
    /// worktree's commit.
    pub fn merge(&self, other: CommitId, committer: &Signature, message: &str) -> Result<Option<CommitId>, MergeError> {
        self.merge_with(other, committer, message, Keep::History)
    }

    /// Merges `other` as one commit with one parent, which keeps the changes and drops the history. None if `other` is
    /// an ancestor of this worktree's commit, or changes nothing.
    pub fn squash_merge(
        &self,
        other: CommitId,
        committer: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, MergeError> {
        self.merge_with(other, committer, message, Keep::Changes)
    }

    fn merge_with(
        &self,
        other: CommitId,
        committer: &Signature,
        message: &str,
        keep: Keep,
    ) -> Result<Option<CommitId>, MergeError> {
        let (git, head) = self.open_with_head()?;
        let git = git.with_object_memory();
        let Some(merged) = compute::merge(&git, head, other, committer, message, keep)? else {
            return Ok(None);
        };
        self.switch_to_computed(&git, head, merged, &committer.git(), format!("merge {other}"))?;
        Ok(Some(merged.commit))
    }

    /// Checks the working tree, writes the objects that are in memory, and moves the worktree to the computed commit.
    pub(crate) fn switch_to_computed(
        &self,
        git: &gix::Repository,
        head: CommitId,
        to: Computed,
        by: &gix::actor::Signature,
        reason: String,
    ) -> Result<(), SwitchError> {
        let switch = Switch::prepare(git, !self.is_main(), to.tree, Uncommitted::Refuse)?;
        compute::write_objects(git, &self.repository().git())?;
        switch.run(self.branch(), head, to.commit, by, reason)
    }
}
