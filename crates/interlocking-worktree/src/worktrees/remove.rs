//! Removing worktrees.

use std::path::{Path, PathBuf};

use crate::{
    filesystem::{
        deletion::{delete_tree, mounted_below},
        own_paths,
    },
    pool::written_files,
    recovery::{
        intent_log::{Intent, Note, unique_name},
        step,
    },
    repository::{Repository, correct_configuration::correct_configuration},
    status::{change::Change, submodules::checked_out, survey::Survey},
    untrusted::{git_directory, program},
    values::{
        git_error::{Doing as _, GitError, Listed},
        path::RepositoryPath,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::{Worktree, check_link},
};

/// What a removal may destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Nothing that is uncommitted, except ignored files, and no submodule that is checked out.
    No,
    /// Also uncommitted changes and untracked files.
    DiscardChanges,
    /// Also a worktree that is locked, or that a crash left half made.
    EvenIfLocked,
}

/// A worktree could not be removed. It is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoveError {
    /// It is the main working tree, which is the user's.
    #[error("{} is the main working tree: it is never removed", path.display())]
    Main {
        /// The worktree.
        path: PathBuf,
    },
    /// It is a clone: remove it with [`delete_directory`].
    #[error("{} is a clone, not a worktree: remove it with `delete_directory`", path.display())]
    Clone {
        /// The clone.
        path: PathBuf,
    },
    /// It has uncommitted changes.
    #[error("{} has changes that are not committed: {}; commit them, or discard them", path.display(), Listed(changes))]
    Dirty {
        /// The worktree.
        path: PathBuf,
        /// The changes, with untracked files.
        changes: Vec<Change>,
    },
    /// Submodules are checked out in it, with work that is not examined.
    #[error("{} has submodules that are checked out: {}; remove them with `git submodule deinit`, or discard them", path.display(), Listed(submodules))]
    Submodules {
        /// The worktree.
        path: PathBuf,
        /// The submodules.
        submodules: Vec<RepositoryPath>,
    },
    /// It is locked.
    #[error("{} is locked ({reason}): unlock it with `unlock_worktree` or `git worktree unlock`", path.display())]
    Locked {
        /// The worktree.
        path: PathBuf,
        /// The reason that was given for the lock.
        reason: String,
    },
    /// Another file system is mounted inside it, whose files must not be deleted.
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
    /// The worktree is not as it was when it was created or opened.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or renamed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The files of a removed worktree, which were renamed out of the way and are to be deleted.
///
/// Dropping this value deletes the files. Deleting many files takes long: send the value to another thread to avoid
/// waiting. If the process is killed before that, the next process that changes the list of worktrees deletes the
/// files.
#[derive(Debug)]
#[must_use = "dropping it deletes the files on this thread"]
pub struct Discarded {
    directories: Vec<PathBuf>,
    /// Dropped after the files are deleted.
    note: Option<Note>,
}

impl Discarded {
    /// The path of the worktree's files, if they and the entry were moved.
    pub(crate) fn files(&self) -> Option<&Path> {
        self.directories.first().map(PathBuf::as_path).filter(|_| self.directories.len() == 2)
    }

    /// The path of the note about the worktree's files, if there was one.
    pub(crate) fn pristine(&self) -> Option<PathBuf> {
        self.directories.last().map(|entry| entry.join(PRISTINE))
    }

    /// Deletes the files on this thread.
    ///
    /// # Errors
    ///
    /// If some files could not be deleted. The directory named in the error can be deleted by hand.
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

/// Deletes a directory with everything in it, whatever its permissions. Links are not followed. Anything else at the
/// path, such as a link, is deleted too; if there is nothing, this succeeds.
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
    /// Removes a worktree from git's list and moves its directory away; both are gone when this returns. Its branch
    /// stays: see [`Repository::delete_branch`].
    ///
    /// # Errors
    ///
    /// See [`RemoveError`]; the worktree is unchanged. A directory that is not of this repository is never touched.
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
        git_directory::check(&self.common_directory().join("worktrees").join(name), self.limits())?;
        let proxy = git.worktree_proxy_by_id(name.as_bytes()).doing(doing)?.ok_or_else(gone)?;
        if proxy.base().doing(doing)? != path {
            return Err(gone().into());
        }
        if force != Force::EvenIfLocked && proxy.is_locked() {
            let reason = proxy.lock_reason().unwrap_or_default();
            return Err(RemoveError::Locked { path: path.to_owned(), reason: reason.to_string() });
        }
        let git_directory = proxy.git_dir().to_owned();
        // If the directory is gone already, only the registration is removed.
        if std::fs::symlink_metadata(path).is_ok() {
            check_link(path, &git_directory)?;
            if let Some(mount) = mounted_below(path) {
                return Err(RemoveError::Mounted { path: path.to_owned(), mount });
            }
            if force == Force::No {
                let mut linked = proxy.into_repo().doing(doing)?;
                correct_configuration(&mut linked)?;
                program::check(&linked, path)?;
                let survey = Survey::of(&linked, true)?;
                let changes = survey.changes();
                if !changes.is_empty() {
                    return Err(RemoveError::Dirty { path: path.to_owned(), changes });
                }
                let submodules = checked_out(&survey.index, path)?;
                if !submodules.is_empty() {
                    return Err(RemoveError::Submodules { path: path.to_owned(), submodules });
                }
            }
        }
        Ok(move_to_trash(path, &git_directory)?)
    }
}

/// Renames a worktree's directory and registration to trash names. The caller holds the registration lock.
pub(crate) fn move_to_trash(path: &Path, git_directory: &Path) -> Result<Discarded, GitError> {
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

/// Like [`move_to_trash`], for a caller that has written a note already. Without `path`, only the entry is renamed: the
/// directory may belong to another worktree.
pub(crate) fn move_to_trash_unnoted(path: Option<&Path>, git_directory: &Path) -> Result<Vec<PathBuf>, GitError> {
    let (away, unregistered) = trash_places(path.unwrap_or(git_directory), git_directory);
    rename_both(path.map(|path| (path, away)), git_directory, unregistered)
}

/// The trash paths of the directory and the entry. The entry moves out of `.git/worktrees`, where git would take it for
/// a worktree: one level up, on the same file system.
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
        // Undo the first rename: all or nothing.
        if let Some((path, away)) = &files {
            let _ = own_paths::rename(away, path);
        }
        return Err(error).doing(|| format!("renaming {}", git_directory.display()));
    }
    step::reached("an entry is taken away");
    if let (Some(name), Some(common)) = (git_directory.file_name(), registrations(git_directory).parent()) {
        // The note about the worktree's files must not apply to the next worktree of this name. Most worktrees have no
        // note.
        let noted = written_files::directory_of(common, &name.to_string_lossy());
        let _ = own_paths::rename(noted, unregistered.join(PRISTINE));
    }
    directories.push(unregistered);
    // As git does, remove the list when it is empty.
    let _ = own_paths::remove_dir(registrations(git_directory));
    Ok(directories)
}

/// The name, in a removed entry, of the note about the worktree's files.
const PRISTINE: &str = "interlocking-pristine";

const TRASH: &str = ".interlocking-removed-";

/// A unique name for a directory to be deleted. The caller chooses its parent, on the same file system, so that a
/// rename suffices.
pub(crate) fn trash_name() -> String {
    format!("{TRASH}{}", unique_name())
}

/// Whether a directory has a name that only this crate gives, for directories to be deleted.
pub(crate) fn is_trash(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TRASH))
}
