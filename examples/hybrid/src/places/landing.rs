//! Where a run's work goes in the end.

use super::{Inner, PlaceError, Places};
use interlocking::worktree::{BranchName, CommitId, CreateBranchError, FastForwardError};

impl Places {
    /// The branch that the run advances.
    pub fn landing(&self) -> &BranchName {
        self.0.land_on.as_ref().unwrap_or(&self.0.main)
    }

    /// Refuses a branch to land on that is not where the run began: whatever the run makes stands on that commit, and is never merged
    /// onto another.
    ///
    /// # Errors
    ///
    /// [`PlaceError::CannotLand`].
    pub fn refuse_moved(&self) -> Result<(), PlaceError> {
        let Inner { repository, land_on, base, .. } = &*self.0;
        match repository.branch_head(self.landing())? {
            Some(at) if at == *base => Ok(()),
            None if land_on.is_some() => Ok(()),
            found => Err(PlaceError::CannotLand { branch: self.landing().clone(), base: *base, found }),
        }
    }

    /// Advances the branch from where the run started to `head`, the commit that the merge worktree is at. Nothing is to be done
    /// where the branch has that commit already: the process that had advanced it was killed before the run was closed, or others have
    /// advanced it further since.
    ///
    /// # Errors
    ///
    /// [`PlaceError::FastForward`] where it moved meanwhile, or is checked out with uncommitted changes; nothing changed.
    pub async fn land(&self, head: CommitId) -> Result<(), PlaceError> {
        let places = self.clone();
        self.blocking(move || places.land_now(head)).await
    }

    fn land_now(&self, head: CommitId) -> Result<(), PlaceError> {
        let Inner { repository, land_on, base, .. } = &*self.0;
        let branch = self.landing();
        match repository.branch_head(branch)? {
            Some(at) if at == head || repository.is_ancestor(head, at)? => Ok(()),
            None if land_on.is_some() => repository.create_branch(branch, head).map_err(|error| match error {
                CreateBranchError::Exists { branch, at } => {
                    FastForwardError::Moved { branch, expected: *base, found: Some(at) }.into()
                }
                error => error.into(),
            }),
            _ => Ok(repository.fast_forward(branch, head, *base)?),
        }
    }
}
