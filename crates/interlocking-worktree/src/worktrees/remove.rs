//! Removing worktrees.

use std::path::{Path, PathBuf};

use crate::{
    filesystem::{
        own_paths,
        trash::{delete_tree, mounted_below},
    },
    pool::written_files,
    recovery::{
        intent_log::{Intent, Note, unique_name},
        step,
    },
    repository::Repository,
    status::{change::Change, survey::Survey},
    untrusted::{git_directory, program},
    values::{
        git_error::{Doing as _, GitError, Listed},
        worktree_error::WorktreeError,
    },
    worktrees::worktree::{Worktree, check_link},
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
    /// It is a clone: [`Repository::remove_clone`] removes those.
    #[error("{} is a clone, not a worktree: remove it with `remove_clone`", path.display())]
    Clone {
        /// The clone.
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
    /// Another file system is mounted inside, whose files are not ours to delete.
    #[error("{} is mounted inside {}: unmount it first", mount.display(), path.display())]
    Mounted {
        /// The worktree.
        path: PathBuf,
        /// Where something is mounted.
        mount: PathBuf,
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
/// Dropping it deletes them, and deleting many files takes long: send it to another thread not to wait. If the process
/// is killed before, the next one that changes the list of worktrees deletes them.
#[derive(Debug)]
#[must_use = "dropping it deletes the files on this thread"]
pub struct Discarded {
    directories: Vec<PathBuf>,
    /// Goes once they are deleted.
    note: Option<Note>,
}

impl Discarded {
    pub(crate) fn of(directory: PathBuf) -> Self {
        Self { directories: vec![directory], note: None }
    }

    pub(crate) fn nothing() -> Self {
        Self { directories: Vec::new(), note: None }
    }

    /// Where the worktree's files are now.
    pub(crate) fn files(&self) -> Option<&Path> {
        self.directories.first().map(PathBuf::as_path).filter(|_| self.directories.len() == 2)
    }

    /// Where what was noted of its files is now, if something was.
    pub(crate) fn pristine(&self) -> Option<PathBuf> {
        self.directories.last().map(|entry| entry.join(PRISTINE))
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
            let deleted = delete_tree(&directory);
            step::reached("a removed directory is deleted");
            result = result.and(deleted.doing(|| format!("deleting {}", directory.display())));
        }
        result
    }
}

/// Deletes a directory with all that is in it, whatever the modes there; no link is followed. What is there in its place, such as a
/// link, is deleted too; where nothing is, nothing is to be done.
///
/// # Errors
///
/// If something could not be deleted.
pub fn delete_directory(directory: impl AsRef<Path>) -> Result<(), GitError> {
    let directory = directory.as_ref();
    let deleted = match directory.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Ok(found) if !found.is_dir() => own_paths::remove_file(directory),
        _ => delete_tree(directory),
    };
    deleted.doing(|| format!("deleting {}", directory.display()))
}

impl Drop for Discarded {
    fn drop(&mut self) {
        let _ = self.delete_all();
        self.note = None;
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
        if worktree.is_clone() {
            return Err(RemoveError::Clone { path: path.to_owned() });
        }
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
        git_directory::look(&self.common_directory().join("worktrees").join(name), self.limits())?;
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
            if let Some(mount) = mounted_below(path) {
                return Err(RemoveError::Mounted { path: path.to_owned(), mount });
            }
            if force == Force::No {
                let linked = proxy.into_repo().doing(doing)?;
                program::check(&linked, path)?;
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
    let (away, unregistered) = trash_places(path, git_directory);
    let common_directory = git_directory.parent().and_then(Path::parent).unwrap_or(git_directory);
    let note = Note::write(
        common_directory,
        &[Intent::Remove {
            path: path.to_owned(),
            away: away.clone(),
            git_directory: git_directory.to_owned(),
            unregistered: unregistered.clone(),
        }],
    )?;
    step::reached("a removal is announced");
    let directories = rename_both(Some((path, away)), git_directory, unregistered)?;
    Ok(Discarded { directories, note: Some(note) })
}

/// The same for who has a note of it already; of a worktree whose directory may be somebody else's, the entry alone.
pub(crate) fn take_away_unnoted(path: Option<&Path>, git_directory: &Path) -> Result<Vec<PathBuf>, GitError> {
    let (away, unregistered) = trash_places(path.unwrap_or(git_directory), git_directory);
    rename_both(path.map(|path| (path, away)), git_directory, unregistered)
}

/// Where both go. The entry goes out of `.git/worktrees`, where git would take it for a worktree: one level up, on the
/// same file system.
fn trash_places(path: &Path, git_directory: &Path) -> (PathBuf, PathBuf) {
    (path.with_file_name(trash_name()), registrations(git_directory).with_file_name(trash_name()))
}

fn registrations(git_directory: &Path) -> &Path {
    git_directory.parent().unwrap_or(git_directory)
}

fn rename_both(
    files: Option<(&Path, PathBuf)>,
    git_directory: &Path,
    unregistered: PathBuf,
) -> Result<Vec<PathBuf>, GitError> {
    let mut directories = Vec::new();
    if let Some((path, away)) = &files {
        match own_paths::rename(path, away) {
            Ok(()) => directories.push(away.clone()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).doing(|| format!("renaming {}", path.display())),
        }
        step::reached("a directory is taken away");
    }
    if let Err(error) = own_paths::rename(git_directory, &unregistered) {
        // All or nothing.
        if let Some((path, away)) = &files {
            let _ = own_paths::rename(away, path);
        }
        return Err(error).doing(|| format!("renaming {}", git_directory.display()));
    }
    step::reached("an entry is taken away");
    if let (Some(name), Some(common)) = (git_directory.file_name(), registrations(git_directory).parent()) {
        // The next worktree of this name is another one. Most have no such note.
        let noted = written_files::directory_of(common, &name.to_string_lossy());
        let _ = own_paths::rename(noted, unregistered.join(PRISTINE));
    }
    directories.push(unregistered);
    // Git removes the list when it is empty; so does this.
    let _ = own_paths::remove_dir(registrations(git_directory));
    Ok(directories)
}

/// In a removed entry: what was noted of the worktree's files.
const PRISTINE: &str = "interlocking-pristine";

const TRASH: &str = ".interlocking-removed-";

/// A name in nobody else's use. The same directory or file system is the caller's business, so that a rename is enough.
pub(crate) fn trash_name() -> String {
    format!("{TRASH}{}", unique_name())
}

/// Whether a directory has a name that only this crate gives, to what it deletes.
pub(crate) fn is_trash(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TRASH))
}
