//! Merging, picking and rebasing commits in the object database only: no worktree is needed or touched, and no
//! reference moves.

use std::ops::Range;

use crate::{
    merges::{
        compute::{self, InPlace, Keep, OnConflict},
        integrate::{CherryPickError, MergeError},
        rebase::RebaseError,
    },
    repository::Repository,
    values::{id::CommitId, signature::Signature},
};

/// The commits made by these operations are unreachable until [`Repository::fast_forward`],
/// [`Repository::move_branch`], [`Repository::create_branch`] or [`Repository::archive`] makes a reference to them;
/// git's garbage collection keeps such objects for two weeks. A conflict writes nothing at all. The variants about a
/// working tree (`Switch`) do not occur.
///
/// Merge attributes (`merge=union`, `-merge`) are read from the index of the main working tree.
impl Repository {
    /// The merge commit of `onto` and `other`, as [`crate::Worktree::merge`] would make it on `onto`. None if `other`
    /// is an ancestor of `onto`.
    ///
    /// # Errors
    ///
    /// See [`MergeError`]; nothing is written.
    pub fn merge_onto(
        &self,
        onto: CommitId,
        other: CommitId,
        committer: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, MergeError> {
        self.merge_in_memory(onto, other, committer, message, Keep::History)
    }

    /// The one commit that [`crate::Worktree::squash_merge`] would make on `onto`. None if it would change nothing.
    ///
    /// # Errors
    ///
    /// See [`MergeError`]; nothing is written.
    pub fn squash_onto(
        &self,
        onto: CommitId,
        other: CommitId,
        committer: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, MergeError> {
        self.merge_in_memory(onto, other, committer, message, Keep::Changes)
    }

    /// The commits that [`crate::Worktree::cherry_pick`] would make on `onto`.
    ///
    /// # Errors
    ///
    /// See [`CherryPickError`]; nothing is written, even if only the third of five commits conflicts.
    pub fn cherry_pick_onto(
        &self,
        onto: CommitId,
        range: Range<CommitId>,
        committer: &Signature,
    ) -> Result<Vec<CommitId>, CherryPickError> {
        self.replay_in_memory(onto, range, committer, InPlace::Recreated)
    }

    /// The commits that [`crate::Worktree::rebase`] would make on `onto` from those of the range. Empty if `onto` has
    /// all their changes.
    ///
    /// # Errors
    ///
    /// See [`RebaseError`]; nothing is written, even if only the third of five commits conflicts.
    pub fn rebase_onto(
        &self,
        onto: CommitId,
        range: Range<CommitId>,
        committer: &Signature,
    ) -> Result<Vec<CommitId>, RebaseError> {
        Ok(self.replay_in_memory(onto, range, committer, InPlace::Stays)?)
    }

    fn merge_in_memory(
        &self,
        onto: CommitId,
        other: CommitId,
        committer: &Signature,
        message: &str,
        keep: Keep,
    ) -> Result<Option<CommitId>, MergeError> {
        // Opened anew, because its index and configuration affect how files are merged.
        let git = self.git_of_main_worktree()?.with_object_memory();
        let merged = compute::merge(&git, onto, other, committer, message, keep)?;
        compute::write_objects(&git, &self.git())?;
        Ok(merged.map(|merged| merged.commit))
    }

    fn replay_in_memory(
        &self,
        onto: CommitId,
        range: Range<CommitId>,
        committer: &Signature,
        in_place: InPlace,
    ) -> Result<Vec<CommitId>, CherryPickError> {
        let git = self.git_of_main_worktree()?.with_object_memory();
        let commits = compute::first_parent_range(&git, &range)?;
        let created = compute::replay(&git, onto, &commits, committer, in_place, OnConflict::Refuse)?.created;
        compute::write_objects(&git, &self.git())?;
        Ok(created.iter().map(|made| made.commit).collect())
    }
}
