//! Locking worktrees against being removed and pruned.

use std::path::PathBuf;

use crate::{
    repository::Repository,
    values::{
        git_error::{Doing as _, GitError},
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// A worktree could not be locked or unlocked; it is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It is the main working tree or a clone, neither of which is in git's list of worktrees.
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
    /// Somebody locked it already.
    #[error("{} is locked already ({reason})", path.display())]
    Locked {
        /// The worktree.
        path: PathBuf,
        /// The reason they gave.
        reason: String,
    },
    /// There is no lock to take off.
    #[error("{} is not locked", path.display())]
    NotLocked {
        /// The worktree.
        path: PathBuf,
    },
    /// It is registered no more.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Locks a worktree, as `git worktree lock` does: neither this crate nor git removes or prunes it, or its
    /// registration when its directory is gone for a while. The reason is for people. Git knows the lock and this crate
    /// knows git's.
    ///
    /// It keeps nobody from committing in it; it has nothing to do with the lock files of [`Worktree::unlock`].
    ///
    /// # Errors
    ///
    /// [`LockError::Locked`] if it is locked already, by whomever.
    pub fn lock_worktree(&self, worktree: &Worktree, reason: &str) -> Result<(), LockError> {
        self.set_lock(worktree, |path, locked| match locked {
            Some(reason) => Err(LockError::Locked { path, reason }),
            // One line, as git shows it.
            None => Ok(Some(reason.split_whitespace().collect::<Vec<_>>().join(" "))),
        })
    }

    /// Takes the lock off again, whoever put it on.
    ///
    /// # Errors
    ///
    /// [`LockError::NotLocked`] if there is none.
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
        // Its directory may be away: that is what locks are for. But the name must still mean the same place.
        if proxy.base().doing(doing)? != path {
            return Err(gone().into());
        }
        let locked = proxy.is_locked().then(|| proxy.lock_reason().unwrap_or_default().to_string());
        let reason = lock(path.clone(), locked)?;
        proxy.set_lock(reason.as_deref().map(Into::into)).doing(doing)?;
        Ok(())
    }
}
