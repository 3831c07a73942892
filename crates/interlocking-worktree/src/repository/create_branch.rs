//! Creating branches, and moving branches that no worktree has checked out.

use std::path::PathBuf;

use crate::{
    checkout::reset::tree_of,
    repository::{
        Repository,
        references::{Move, MoveError, Named},
    },
    values::{
        git_error::{Doing as _, GitError},
        id::{CommitId, at},
        name::BranchName,
        signature::Signature,
    },
};

/// A branch could not be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateBranchError {
    /// There already is a branch of this name, at this commit or another.
    #[error("the branch {branch} exists already, at {at}: choose another name, or move it")]
    Exists {
        /// The branch.
        branch: BranchName,
        /// The commit it is at.
        at: CommitId,
    },
    /// One name is a directory of the other: `agent` and `agent/one` cannot exist together.
    #[error("the branch {branch} cannot exist beside {existing}: choose a name that is not below the other")]
    Clash {
        /// The branch asked for.
        branch: BranchName,
        /// The existing branch.
        existing: BranchName,
    },
    /// There is no such commit here.
    #[error("{commit} is not a commit of this repository")]
    NoSuchCommit {
        /// The commit asked for.
        commit: CommitId,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A branch could not be moved. It is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveBranchError {
    /// The branch is not where the caller expected it: another thread or program moved it.
    #[error("{branch} moved: expected at {expected}, found {}; look at it again", at(*found, "gone"))]
    Moved {
        /// The branch.
        branch: BranchName,
        /// Where the caller expected it.
        expected: CommitId,
        /// Where it is; none if it does not exist.
        found: Option<CommitId>,
    },
    /// A worktree has it checked out, whose files would not be updated.
    #[error("{branch} is checked out in {}: use `reset_to` or `fast_forward` there", place.display())]
    CheckedOut {
        /// The branch.
        branch: BranchName,
        /// The worktree.
        place: PathBuf,
    },
    /// There is no such commit here.
    #[error("{commit} is not a commit of this repository")]
    NoSuchCommit {
        /// The commit asked for.
        commit: CommitId,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Creates a branch at `at` that no worktree has checked out.
    ///
    /// # Errors
    ///
    /// [`CreateBranchError::Exists`] if it exists already, even at the same commit: success means that the caller owns
    /// the branch.
    pub fn create_branch(&self, branch: &BranchName, at: CommitId) -> Result<(), CreateBranchError> {
        let git = self.git();
        if git.find_commit(at.git()).is_err() {
            return Err(CreateBranchError::NoSuchCommit { commit: at });
        }
        // Two branches that are created at the same time could clash.
        let _registration = self.lock_registration()?;
        create_branch(&git, branch, at)
    }

    /// Moves a branch that no worktree has checked out to any commit, forward or not, if it is still at `expected`
    /// (compare and swap). Commits that leave the branch may become unreachable: [`Repository::archive`] them first. To
    /// move a branch forward only, with the files of its worktree, see [`Repository::fast_forward`].
    ///
    /// # Errors
    ///
    /// See [`MoveBranchError`]; the branch is unchanged.
    pub fn move_branch(&self, branch: &BranchName, to: CommitId, expected: CommitId) -> Result<(), MoveBranchError> {
        let git = self.git();
        if git.find_commit(to.git()).is_err() {
            return Err(MoveBranchError::NoSuchCommit { commit: to });
        }
        tree_of(&git, to)?;
        // No worktree may check out the branch in the meantime.
        let _registration = self.lock_registration()?;
        if let Some(place) = self.place_on(branch)? {
            return Err(MoveBranchError::CheckedOut { branch: branch.clone(), place });
        }
        let moved_error = |error| match error {
            MoveError::Moved { found } => {
                MoveBranchError::Moved { branch: branch.clone(), expected, found: found.map(CommitId::from_git) }
            }
            MoveError::Git(error) => error.into(),
        };
        let name = branch.full_name();
        let reason = format!("branch: Moved to {to}");
        let moved = Move { name: Named::Reference(&name), expected: Some(expected.git()), to: to.git(), reason };
        moved.prepare(&git).map_err(moved_error)?.commit(&Signature::runtime())?;
        Ok(())
    }
}

/// The caller holds the registration lock.
pub(crate) fn create_branch(
    git: &gix::Repository,
    branch: &BranchName,
    from: CommitId,
) -> Result<(), CreateBranchError> {
    if let Some(existing) = clashing(git, branch)? {
        return Err(CreateBranchError::Clash { branch: branch.clone(), existing });
    }
    let name = branch.full_name();
    let new = Move {
        name: Named::Reference(&name),
        expected: None,
        to: from.git(),
        reason: format!("branch: Created from {from}"),
    };
    new.create(git, &Signature::runtime()).map_err(|error| match error {
        MoveError::Moved { found } => {
            CreateBranchError::Exists { branch: branch.clone(), at: found.map_or(from, CommitId::from_git) }
        }
        MoveError::Git(error) => error.into(),
    })
}

/// Finds a branch that cannot exist beside `branch` because one's name is a directory of the other's. Only references
/// that could clash are read, however many branches there are. Git notices a clash only while reflogs are kept.
pub(crate) fn clashing(git: &gix::Repository, branch: &BranchName) -> Result<Option<BranchName>, GitError> {
    let doing = || format!("reading the branches beside {branch}");
    let name = branch.as_str();
    for (end, _) in name.match_indices('/') {
        let upper = format!("refs/heads/{}", &name[..end]);
        if let Some(existing) = git.try_find_reference(&upper).doing(doing)?
            && let Some(existing) = BranchName::from_git(existing.name())
        {
            return Ok(Some(existing));
        }
    }
    let references = git.references().doing(doing)?;
    let prefix = format!("{}/", branch.full_name());
    for existing in references.prefixed(prefix.as_str()).doing(doing)? {
        let existing = existing.map_err(|error| GitError::new(doing(), error.to_string()))?;
        if let Some(existing) = BranchName::from_git(existing.name()) {
            return Ok(Some(existing));
        }
    }
    Ok(None)
}
