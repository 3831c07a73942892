//! Removing clones.

use std::path::{Path, PathBuf};

use crate::{
    filesystem::own_paths,
    repository::Repository,
    status::{change::Change, submodules::checked_out, survey::Survey},
    values::{
        git_error::{Doing as _, GitError, Listed},
        id::CommitId,
        path::RepositoryPath,
        worktree_error::WorktreeError,
    },
    worktrees::{
        remove::{Discarded, Force, trash_name},
        worktree::Worktree,
    },
};

/// A clone could not be removed. It is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoveCloneError {
    /// It is a worktree: remove it with [`Repository::remove_worktree`].
    #[error("{} is not a clone", path.display())]
    NotAClone {
        /// The worktree.
        path: PathBuf,
    },
    /// It has uncommitted changes.
    #[error("{} has changes that are not committed: {}; commit them, or discard them", path.display(), Listed(changes))]
    Dirty {
        /// The clone.
        path: PathBuf,
        /// The changes, with untracked files.
        changes: Vec<Change>,
    },
    /// Submodules are checked out in it, with work that is not examined.
    #[error("{} has submodules that are checked out: {}; remove them with `git submodule deinit`, or discard them", path.display(), Listed(submodules))]
    Submodules {
        /// The clone.
        path: PathBuf,
        /// The submodules.
        submodules: Vec<RepositoryPath>,
    },
    /// Its newest commit is not in this repository.
    #[error("{head} is only in {}: fetch it first, or discard it", path.display())]
    NotFetched {
        /// The clone.
        path: PathBuf,
        /// The commit.
        head: CommitId,
    },
    /// The clone is not as it was when it was created.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or renamed.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Removes a clone of this repository. With [`Force::No`], everything in it must be committed, no submodule may
    /// be checked out, and this repository must have its newest commit.
    ///
    /// # Errors
    ///
    /// See [`RemoveCloneError`]; the clone is unchanged.
    pub fn remove_clone(&self, clone: &Worktree, force: Force) -> Result<Discarded, RemoveCloneError> {
        let path = clone.path();
        if !clone.is_clone() {
            return Err(RemoveCloneError::NotAClone { path: path.to_owned() });
        }
        if force == Force::No {
            let (git, _head) = clone.open()?;
            let survey = Survey::of(&git, true)?;
            let changes = survey.changes();
            if !changes.is_empty() {
                return Err(RemoveCloneError::Dirty { path: path.to_owned(), changes });
            }
            let submodules = checked_out(&survey.index, path)?;
            if !submodules.is_empty() {
                return Err(RemoveCloneError::Submodules { path: path.to_owned(), submodules });
            }
            let head = clone.head()?;
            if self.git().find_commit(head.git()).is_err() {
                return Err(RemoveCloneError::NotFetched { path: path.to_owned(), head });
            }
        }
        Ok(move_to_trash(path)?)
    }
}

fn move_to_trash(path: &Path) -> Result<Discarded, GitError> {
    let away = path.with_file_name(trash_name());
    match own_paths::rename(path, &away) {
        Ok(()) => Ok(Discarded::of(away)),
        // It is gone already.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Discarded::nothing()),
        Err(error) => Err(error).doing(|| format!("renaming {}", path.display())),
    }
}
