//! Repairing the links between a worktree and its registration after one of them was moved or damaged.
//!
//! Each names the other by path: the registration in its file `gitdir`, the worktree in its file `.git`. Moving either
//! by hand breaks a link.

use std::path::{Path, PathBuf};

use crate::{
    filesystem::own_paths,
    repository::Repository,
    untrusted::{file, git_directory},
    values::git_error::{Doing as _, GitError},
    worktrees::prune::{directories_in, registered_link},
};

/// A worktree whose link to or from its registration was repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Its name in git's list.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Which of the two files was wrong.
    pub wrong: WrongLink,
}

/// Which file named a wrong path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WrongLink {
    /// The worktree's `.git` file did not name the registration: it was damaged, or the repository was moved.
    InWorktree,
    /// The registration did not name the worktree, which was moved.
    InRegistration,
}

/// A worktree could not be repaired.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RepairError {
    /// There is no directory, or its `.git` is not a file that names a registration.
    #[error("{} has no `.git` file that names a worktree: give the root of a moved worktree", path.display())]
    NotAWorktree {
        /// The place as given.
        path: PathBuf,
    },
    /// It belongs to another repository, or its registration was pruned.
    #[error("no registration of this repository is named by the `.git` file in {} (it says {})", path.display(), found.display())]
    NotRegistered {
        /// The place as given.
        path: PathBuf,
        /// The path in the `.git` file.
        found: PathBuf,
    },
    /// A worktree is also at the registered path: one of the two is a copy.
    #[error("{} is a copy of the worktree at {}: copies have no registration of their own; remove one of them", path.display(), registered.display())]
    Copied {
        /// The place as given.
        path: PathBuf,
        /// Where the worktree is registered.
        registered: PathBuf,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Rewrites the `.git` file of every worktree that is at its registered path and whose `.git` file does not name
    /// its registration, as `git worktree repair` does: after the repository was moved, or the file damaged.
    ///
    /// Call it when a person asks for it. A `.git` file that names another repository may also be the work of an agent,
    /// which [`crate::WorktreeError::Diverted`] reports.
    ///
    /// # Errors
    ///
    /// If a file cannot be written; the worktrees before it are already repaired then. A worktree whose `.git` is a
    /// directory is left alone.
    pub fn repair_worktrees(&self) -> Result<Vec<Repaired>, RepairError> {
        let _registration = self.lock_registration()?;
        let mut repaired = Vec::new();
        for registration in directories_in(&self.common_directory().join("worktrees"))? {
            let Some(link) = registered_link(&registration) else { continue };
            let Some(root) = link.parent().filter(|root| root.is_dir()) else { continue };
            // Only a file is replaced, or created: a directory is a repository, and a symbolic link points elsewhere.
            match std::fs::symlink_metadata(&link) {
                Ok(metadata) if !metadata.is_file() => continue,
                _ => {}
            }
            if named_by(&link).is_some_and(|named| is_same(&named, &registration)) {
                continue;
            }
            write(&link, &format!("gitdir: {}\n", text_of(&registration)?))?;
            repaired.push(Repaired {
                name: name_of(&registration),
                path: root.to_owned(),
                wrong: WrongLink::InWorktree,
            });
        }
        Ok(repaired)
    }

    /// Registers the new path of a worktree that was moved by hand, as `git worktree repair <path>` does. None if it is
    /// registered there already.
    ///
    /// # Errors
    ///
    /// See [`RepairError`]; nothing is changed, unless a file could not be written.
    pub fn repair_moved_worktree(&self, path: impl AsRef<Path>) -> Result<Option<Repaired>, RepairError> {
        let path = path.as_ref();
        let not_a_worktree = || RepairError::NotAWorktree { path: path.to_owned() };
        let root = std::fs::canonicalize(path).map_err(|_| not_a_worktree())?;
        let link = root.join(".git");
        let is_file = std::fs::symlink_metadata(&link).is_ok_and(|metadata| metadata.is_file());
        let named = is_file.then(|| named_by(&link)).flatten().ok_or_else(not_a_worktree)?;

        let _registration = self.lock_registration()?;
        let registrations = self.common_directory().join("worktrees");
        // Compared by name, because the repository may have been moved too.
        let registration = named.file_name().map(|name| registrations.join(name));
        let not_registered = || RepairError::NotRegistered { path: path.to_owned(), found: named.clone() };
        let registration = registration.filter(|registration| registration.is_dir()).ok_or_else(not_registered)?;
        if named.exists() && !is_same(&named, &registration) {
            return Err(not_registered());
        }
        let registered = registered_link(&registration);
        if let Some(registered) = &registered {
            if is_same(registered, &link) {
                return Ok(None);
            }
            if registered.symlink_metadata().is_ok() {
                let registered = registered.parent().unwrap_or(registered).to_owned();
                return Err(RepairError::Copied { path: path.to_owned(), registered });
            }
        }
        write(&registration.join("gitdir"), &format!("{}\n", text_of(&link)?))?;
        if !is_same(&named, &registration) {
            write(&link, &format!("gitdir: {}\n", text_of(&registration)?))?;
        }
        Ok(Some(Repaired { name: name_of(&registration), path: root, wrong: WrongLink::InRegistration }))
    }
}

/// The directory that a `.git` file names, whether or not it exists.
fn named_by(link: &Path) -> Option<PathBuf> {
    git_directory::read_link(link).ok().flatten()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    canonical(one).is_some() && canonical(one) == canonical(other)
}

fn name_of(registration: &Path) -> String {
    registration.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn text_of(path: &Path) -> Result<String, GitError> {
    let text = path.to_str().filter(|text| !text.contains('\n'));
    let cause = "the path is not a line of UTF-8";
    text.map(ToOwned::to_owned).ok_or_else(|| GitError::new(format!("writing down {}", path.display()), cause))
}

/// Replaces a file atomically.
fn write(file: &Path, contents: &str) -> Result<(), GitError> {
    let doing = || format!("writing {}", file.display());
    let mut new = file.as_os_str().to_owned();
    new.push(".interlocking-new");
    let new = PathBuf::from(new);
    file::write_anew(&new, contents).doing(doing)?;
    own_paths::rename(&new, file).doing(doing)
}
