//! Locking worktrees, so that they are not removed or pruned.

use std::path::PathBuf;

use crate::{
    repository::Repository,
    values::{
        git_error::{Doing as _, GitError},
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// A worktree could not be locked or unlocked. It is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It is the main working tree or a clone, which are not in git's list of worktrees.
    #[error("{} is no linked worktree: there is nothing to keep from being pruned", path.display())]
    NotLinked {
        /// The worktree.
        path: PathBuf,
    },
    /// It belongs to another repository.
    #[error("{} belongs to another repository", path.display())]
    OtherRepository {
        /// The worktree.
        path: PathBuf,
    },
    /// It is locked already.
    #[error("{} is locked already ({reason})", path.display())]
    Locked {
        /// The worktree.
        path: PathBuf,
        /// The reason that was given for that lock.
        reason: String,
    },
    /// It is not locked.
    #[error("{} is not locked", path.display())]
    NotLocked {
        /// The worktree.
        path: PathBuf,
    },
    /// It is not registered any more.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Locks a worktree, as `git worktree lock` does: neither this crate nor git removes or prunes it, or its
    /// registration while its directory is missing. The reason is for people. Git respects locks of this crate, and
    /// this crate respects git's.
    ///
    /// The lock does not prevent commits in the worktree. It is unrelated to the lock files of [`Worktree::unlock`].
    ///
    /// # Errors
    ///
    /// [`LockError::Locked`] if it is locked already.
    pub fn lock_worktree(&self, worktree: &Worktree, reason: &str) -> Result<(), LockError> {
        self.set_lock(worktree, |path, locked| match locked {
            Some(reason) => Err(LockError::Locked { path, reason }),
            // One line, as git shows it.
            None => Ok(Some(reason.split_whitespace().collect::<Vec<_>>().join(" "))),
        })
    }

    /// Removes the lock, whether this crate or another program made it.
    ///
    /// # Errors
    ///
    /// [`LockError::NotLocked`] if it is not locked.
    pub fn unlock_worktree(&self, worktree: &Worktree) -> Result<(), LockError> {
        self.set_lock(worktree, |path, locked| match locked {
            Some(_) => Ok(None),
            None => Err(LockError::NotLocked { path }),
        })
    }

    fn set_lock(
        &self,
        worktree: &Worktree,
        lock: impl FnOnce(PathBuf, Option<String>) -> Result<Option<String>, LockError>,
    ) -> Result<(), LockError> {
        let path = worktree.path().to_owned();
        let Some(name) = worktree.name() else {
            return Err(LockError::NotLinked { path });
        };
        if worktree.repository() != self {
            return Err(LockError::OtherRepository { path });
        }
        let doing = || format!("locking the worktree at {}", path.display());
        let gone = || WorktreeError::Gone { path: path.clone() };
        let _registration = self.lock_registration()?;
        let git = self.git();
        let proxy = git.worktree_proxy_by_id(name.as_bytes()).doing(doing)?.ok_or_else(gone)?;
        // The directory may be missing: that is what locks are for. But the entry must still be of the same path.
        if proxy.base().doing(doing)? != path {
            return Err(gone().into());
        }
        let locked = proxy.is_locked().then(|| proxy.lock_reason().unwrap_or_default().to_string());
        let reason = lock(path.clone(), locked)?;
        proxy.set_lock(reason.as_deref().map(Into::into)).doing(doing)?;
        Ok(())
    }
}
