//! Removing the locks that a killed process has left in a worktree.

use std::path::PathBuf;

use crate::{
    filesystem::own_paths,
    values::{
        git_error::{Doing as _, GitError},
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// A worktree could not be unlocked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnlockError {
    /// It is the main working tree, where other programs may be at work.
    #[error("{} is the main working tree: other programs may hold its locks; delete those that are stale by hand", path.display())]
    Main {
        /// The worktree.
        path: PathBuf,
    },
    /// The worktree is not as it was when it was created or opened.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// A lock could not be deleted.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Worktree {
    /// Deletes the lock files of its index, its HEAD and its branch, and returns those that existed.
    ///
    /// Git's lock files stay when a process is killed during a commit, and cannot be told from those of a running
    /// process. So this is for a caller that knows that no other process works here, as a run's executor knows of the
    /// run's worktrees. Afterwards [`Worktree::reset_to`] restores the rest.
    ///
    /// # Errors
    ///
    /// [`UnlockError::Main`] in the main working tree.
    pub fn unlock(&self) -> Result<Vec<PathBuf>, UnlockError> {
        if self.is_main() {
            return Err(UnlockError::Main { path: self.path().to_owned() });
        }
        let (git, _head) = self.open()?;
        let mut locks = vec![git.git_dir().join("index.lock"), git.git_dir().join("HEAD.lock")];
        if let Some(branch) = self.branch() {
            locks.push(git.common_dir().join(format!("{}.lock", branch.full_name())));
        }
        let mut deleted = Vec::new();
        for lock in locks {
            match own_paths::remove_file(&lock) {
                Ok(()) => deleted.push(lock),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).doing(|| format!("deleting {}", lock.display()))?,
            }
        }
        Ok(deleted)
    }
}
