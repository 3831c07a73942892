//! Renaming branches.

use crate::{
    repository::{
        Repository,
        branch::DeleteBranchError,
        create_branch::clashing,
        references::{self, Move, MoveError, Named},
    },
    values::{git_error::GitError, id::CommitId, name::BranchName, signature::Signature},
};

/// A branch could not be renamed. No branch has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenameBranchError {
    /// The new name is that of a branch at another commit.
    #[error("{to} is a branch already, at {found}: choose another name, or rename that one first")]
    Taken {
        /// The new name.
        to: BranchName,
        /// Where that branch is.
        found: CommitId,
    },
    /// One name is a directory of the other: `agent` and `agent/one` cannot exist together, even if one of them is the
    /// old name.
    #[error("the branch {to} cannot exist beside {existing}: choose a name that is not below the other")]
    Clash {
        /// The new name.
        to: BranchName,
        /// The existing branch.
        existing: BranchName,
    },
    /// The old branch could not be deleted.
    #[error(transparent)]
    Old(#[from] DeleteBranchError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Renames a branch that is still at `expected` and that no worktree has checked out. Its reflog is not kept. A
    /// branch of the new name at the same commit counts as left by an earlier attempt whose process ended, and is used.
    pub fn rename_branch(
        &self,
        from: &BranchName,
        to: &BranchName,
        expected: CommitId,
    ) -> Result<(), RenameBranchError> {
        if from == to {
            return Ok(());
        }
        let (git, name) = (self.git(), to.full_name());
        // Two branches that are created at the same time could clash.
        let _registration = self.lock_registration()?;
        if let Some(existing) = clashing(&git, to)? {
            return Err(RenameBranchError::Clash { to: to.clone(), existing });
        }
        let reason = format!("Branch: renamed {} to {name}", from.full_name());
        let new = Move { name: Named::Reference(&name), expected: None, to: expected.git(), reason };
        let is_new = match new.create(&git, &Signature::runtime()) {
            Ok(()) => true,
            Err(MoveError::Moved { found }) if found == Some(expected.git()) => false,
            Err(MoveError::Moved { found }) => {
                let found = found.map_or(expected, CommitId::from_git);
                return Err(RenameBranchError::Taken { to: to.clone(), found });
            }
            Err(MoveError::Git(error)) => return Err(error.into()),
        };
        // The new branch was created first, so that the commits have a name at every moment.
        self.delete_under_lock(from, expected).map_err(|error| {
            if is_new {
                // A failure here is ignored: the caller gets the first error.
                let _ = references::delete(&git, &name, expected.git());
            }
            error.into()
        })
    }
}
