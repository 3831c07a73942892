//! The clones of the two blind sides, and the way back from there.
//!
//! **Invariant:** whatever the user's repository has of a clone was checked object by object when it was brought back, and
//! stands on the commit that the clone began at.

use super::{Place, PlaceError, Places};
use interlocking::worktree::{BranchName, CommitId, Discarded, Force, Worktree};

impl Places {
    /// Brings what was committed in a clone since `since` back to the user's repository, to the branch of its name. What that
    /// had of an earlier round is kept in the archive. Git work.
    pub(super) fn bring_back(&self, place: Place, clone: &Worktree, since: CommitId) -> Result<(), PlaceError> {
        let repository = &self.0.repository;
        let branch = BranchName::new(self.branch_name(place))?;
        let mut known = repository.branch_head(&branch)?;
        if let Some(head) = known
            && !repository.is_ancestor(head, since)?
        {
            self.set_aside(place, &branch, head)?;
            known = None;
        }
        repository.fetch_from_clone(clone, since, known)?;
        Ok(())
    }

    /// Puts a clone back to `from`; what was brought back of it is kept in the archive. Git work.
    pub(super) fn start_over(&self, place: Place, clone: Worktree, from: CommitId) -> Result<Worktree, PlaceError> {
        let branch = BranchName::new(self.branch_name(place))?;
        if let Some(head) = self.0.repository.branch_head(&branch)?.filter(|head| *head != from) {
            self.set_aside(place, &branch, head)?;
        }
        // One that another process had to make again may have begun at a later commit.
        if clone.repository().resolve(&from.to_string()).is_ok() {
            clone.reset_to(from)?;
            self.hand_over(place, &clone, from);
            return Ok(clone);
        }
        self.discard(&clone)?.delete()?;
        self.open_places().remove(&place);
        self.create(place, from)
    }

    fn set_aside(&self, place: Place, branch: &BranchName, head: CommitId) -> Result<(), PlaceError> {
        self.0.repository.archive(&self.archive_name(place, head)?, head)?;
        self.delete_branch(Some(branch), head)
    }

    /// What the user's repository has of a place: its branch, if it is on one, and its head.
    pub(super) fn kept(&self, worktree: &Worktree) -> Result<(Option<BranchName>, Option<CommitId>), PlaceError> {
        let branch = worktree.branch().cloned();
        let head = match &branch {
            Some(branch) if worktree.is_clone() => self.0.repository.branch_head(branch)?,
            _ => Some(worktree.head()?),
        };
        Ok((branch, head))
    }

    /// Takes a worktree or a clone out of its place, with everything that is only there.
    pub(super) fn discard(&self, worktree: &Worktree) -> Result<Discarded, PlaceError> {
        let repository = &self.0.repository;
        if worktree.is_clone() {
            return Ok(repository.remove_clone(worktree, Force::DiscardChanges)?);
        }
        Ok(repository.remove_worktree(worktree, Force::DiscardChanges)?)
    }
}
