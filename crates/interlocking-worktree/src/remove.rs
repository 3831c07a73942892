//! Removing worktrees.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    change::Change,
    git_error::{Doing as _, GitError, Listed},
    repository::Repository,
    survey::Survey,
    worktree::{Worktree, WorktreeError, check_link},
};

/// How much a removal may destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Nothing that is not committed, ignored files apart.
    No,
    /// Uncommitted changes and untracked files too.
    DiscardChanges,
    /// Even a worktree that somebody locked, or that a crash left half-made.
    EvenIfLocked,
}

/// A worktree could not be removed; it is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoveError {
    /// It is the user's own working tree.
    #[error("{} is the main working tree: it is never removed", path.display())]
    Main {
        /// The worktree.
        path: PathBuf,
    },
    /// Something in it is not committed.
    #[error("{} has changes that are not committed: {}; commit them, or discard them", path.display(), Listed(changes))]
    Dirty {
        /// The worktree.
        path: PathBuf,
        /// The changes, with untracked files.
        changes: Vec<Change>,
    },
    /// Somebody locked it.
    #[error("{} is locked ({reason}): unlock it with `unlock_worktree` or `git worktree unlock`", path.display())]
    Locked {
        /// The worktree.
        path: PathBuf,
        /// The reason they gave.
        reason: String,
    },
    /// It belongs to another repository.
    #[error("{} belongs to another repository", path.display())]
    OtherRepository {
        /// The worktree.
        path: PathBuf,
    },
    /// It is not what it was.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or renamed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The files of a removed worktree, renamed out of the way and waiting to be deleted.
///
/// Dropping it deletes them, and deleting many files takes long: send it to another thread not to wait.
#[derive(Debug)]
#[must_use = "dropping it deletes the files on this thread"]
pub struct Discarded {
    directories: Vec<PathBuf>,
}

impl Discarded {
    pub(crate) fn of(directory: PathBuf) -> Self {
        Self { directories: vec![directory] }
    }

    pub(crate) fn nothing() -> Self {
        Self { directories: Vec::new() }
    }

    /// Deletes the files now.
    ///
    /// # Errors
    ///
    /// If some could not be deleted; the directory named in the error can be deleted by hand.
    pub fn delete(mut self) -> Result<(), GitError> {
        self.delete_all()
    }

    fn delete_all(&mut self) -> Result<(), GitError> {
        let mut result = Ok(());
        for directory in std::mem::take(&mut self.directories) {
            // It follows no symbolic link.
            let deleted = std::fs::remove_dir_all(&directory);
            result = result.and(deleted.doing(|| format!("deleting {}", directory.display())));
        }
        result
    }
}

impl Drop for Discarded {
    fn drop(&mut self) {
        let _ = self.delete_all();
    }
}

impl Repository {
    /// Takes a worktree out of git's list and its directory out of its place; both are gone when this returns. Its
    /// branch stays: see [`Repository::delete_branch`].
    ///
    /// # Errors
    ///
    /// See [`RemoveError`]; the worktree is as it was. A directory that is not this repository's is never touched.
    pub fn remove_worktree(&self, worktree: &Worktree, force: Force) -> Result<Discarded, RemoveError> {
        let path = worktree.path();
        let Some(name) = worktree.name() else {
            return Err(RemoveError::Main { path: path.to_owned() });
        };
        if worktree.repository() != self {
            return Err(RemoveError::OtherRepository { path: path.to_owned() });
        }
        let doing = || format!("removing the worktree at {}", path.display());
        let gone = || WorktreeError::Gone { path: path.to_owned() };
        let git = self.git();
        let _registration = self.lock_registration()?;
        let proxy = git.worktree_proxy_by_id(name.as_bytes()).doing(doing)?.ok_or_else(gone)?;
        if proxy.base().doing(doing)? != path {
            return Err(gone().into());
        }
        if force != Force::EvenIfLocked && proxy.is_locked() {
            let reason = proxy.lock_reason().unwrap_or_default();
            return Err(RemoveError::Locked { path: path.to_owned(), reason: reason.to_string() });
        }
        let git_directory = proxy.git_dir().to_owned();
        // If only the registration is left, that is what goes.
        if std::fs::symlink_metadata(path).is_ok() {
            check_link(path, &git_directory)?;
            if force == Force::No {
                let linked = proxy.into_repo().doing(doing)?;
                let changes = Survey::of(&linked, true)?.changes();
                if !changes.is_empty() {
                    return Err(RemoveError::Dirty { path: path.to_owned(), changes });
                }
            }
        }
        Ok(take_away(path, &git_directory)?)
    }
}

/// Renames a worktree's directory and registration out of the way. The caller holds the registration lock.
pub(crate) fn take_away(path: &Path, git_directory: &Path) -> Result<Discarded, GitError> {
    let mut discarded = Discarded { directories: Vec::new() };
    let away = path.with_file_name(trash_name());
    match std::fs::rename(path, &away) {
        Ok(()) => discarded.directories.push(away.clone()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).doing(|| format!("renaming {}", path.display())),
    }
    // Out of `.git/worktrees`, where git would take it for a worktree: one level up, on the same file system.
    let registrations = git_directory.parent().unwrap_or(git_directory);
    let unregistered = registrations.with_file_name(trash_name());
    if let Err(error) = std::fs::rename(git_directory, &unregistered) {
        // All or nothing.
        let _ = std::fs::rename(&away, path);
        discarded.directories.clear();
        return Err(error).doing(|| format!("renaming {}", git_directory.display()));
    }
    discarded.directories.push(unregistered);
    // Git removes the list when it is empty; so does this.
    let _ = std::fs::remove_dir(registrations);
    Ok(discarded)
}

/// A name in nobody else's use. The same directory or file system is the caller's business, so that a rename is enough.
pub(crate) fn trash_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // A crashed process may have had the same number and left its trash behind; it had another time.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!(".interlocking-removed-{}-{count}-{}", std::process::id(), now.as_nanos())
}
