//! Removing the entries of worktrees whose directories are gone.

use std::path::{Path, PathBuf};

use crate::{
    filesystem::{deletion::delete_tree, own_paths},
    repository::Repository,
    untrusted::{
        file::{self, Kind},
        git_directory,
    },
    values::git_error::{Doing as _, GitError},
    worktrees::remove::trash_name,
};

/// A worktree whose registration was pruned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// Its name in git's list.
    pub name: String,
    /// Where it was; none if that could not be read.
    pub path: Option<PathBuf>,
}

/// Worktrees could not be pruned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PruneError {
    /// The list of worktrees, or a registration, could not be read or removed.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Removes from git's list the worktrees whose directory is gone, as `git worktree prune --expire=now` does. Locked
    /// ones stay, which includes those that a crash left "initializing". Branches stay. Nothing is deleted but the
    /// registrations, which lie in the repository's own directory.
    ///
    /// # Errors
    ///
    /// If a registration cannot be read or renamed; those before it are already pruned then.
    pub fn prune_worktrees(&self) -> Result<Vec<Pruned>, PruneError> {
        let _registration = self.lock_registration()?;
        let registrations = self.common_directory().join("worktrees");
        let mut pruned = Vec::new();
        for directory in directories_in(&registrations)? {
            // By `symlink_metadata`: a symbolic link counts as a lock, whatever it points to.
            if directory.join("locked").symlink_metadata().is_ok() {
                continue;
            }
            let link = registered_link(&directory);
            if link.as_ref().is_some_and(|link| link.symlink_metadata().is_ok()) {
                continue;
            }
            let doing = || format!("pruning {}", directory.display());
            let away = self.common_directory().join(trash_name());
            own_paths::rename(&directory, &away).doing(doing)?;
            pruned.push(Pruned {
                name: directory.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                path: link.and_then(|link| link.parent().map(Path::to_owned)),
            });
            // It is out of the list already; remains that cannot be deleted belong to no worktree.
            delete_tree(&away).doing(doing)?;
        }
        // As git does, remove the list when it is empty.
        let _ = own_paths::remove_dir(&registrations);
        Ok(pruned)
    }
}

/// The directories in `directory`, ordered; none if there is no such directory.
pub(crate) fn directories_in(directory: &Path) -> Result<Vec<PathBuf>, GitError> {
    let doing = || format!("listing {}", directory.display());
    let mut found = Vec::new();
    match own_paths::read_dir(directory) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry.doing(doing)?;
                if entry.file_type().doing(doing)?.is_dir() {
                    found.push(entry.path());
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).doing(doing),
    }
    found.sort();
    Ok(found)
}

/// The path of the worktree's `.git` file, according to its registration.
pub(crate) fn registered_link(registration: &Path) -> Option<PathBuf> {
    let contents = file::read(&registration.join("gitdir"), Kind::Link).ok()??;
    let link = git_directory::path_in(&contents.bytes).ok().filter(|link| !link.as_os_str().is_empty())?;
    let link = registration.join(link);
    link.is_absolute().then_some(link)
}
