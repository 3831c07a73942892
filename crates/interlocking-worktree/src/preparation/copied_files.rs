//! Copying ignored files that a project needs, such as `.env`, into a new worktree. Only listed files are copied.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;

use crate::{
    repository::Repository,
    status::ignores::is_ignored,
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// A listed file could not be copied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// It does not exist.
    #[error("{path} is listed to be copied, but is not in {}: make it, or take it off the list", root.display())]
    Missing {
        /// The file.
        path: RepositoryPath,
        /// The working tree to copy from.
        root: PathBuf,
    },
    /// It is not a regular file, or a directory in its path is a symbolic link, whose target may be anywhere.
    #[error("{path} in {} is not a file of its own, or is reached through a symbolic link: list a file", root.display())]
    NotAFile {
        /// The file.
        path: RepositoryPath,
        /// The working tree that it is in.
        root: PathBuf,
    },
    /// It is not ignored in the new worktree: a commit of all changes would include it, with any secrets in it.
    #[error("{path} is not ignored, and would be committed: add it to .gitignore or .git/info/exclude")]
    NotIgnored {
        /// The file.
        path: RepositoryPath,
    },
    /// The new worktree has this file already: it is tracked.
    #[error("{path} is in the new worktree already: it is tracked, so take it off the list")]
    Exists {
        /// The file.
        path: RepositoryPath,
    },
    /// The worktree is not as it was when it was created or opened.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Copies the listed ignored files of the user's working tree to a worktree or a clone, with their modes. In a bare
    /// repository this does nothing.
    ///
    /// # Errors
    ///
    /// [`CopyError`] of the first file that is not an ignored regular file, or exists already; those before it are
    /// copied.
    pub fn copy_ignored(&self, to: &Worktree, files: &[RepositoryPath]) -> Result<(), CopyError> {
        let (Some(from), false) = (self.working_tree(), files.is_empty()) else { return Ok(()) };
        let (git, _) = to.open()?;
        for path in files {
            if !is_ignored(&git, to.path(), path.as_bytes().as_bstr())? {
                return Err(CopyError::NotIgnored { path: path.clone() });
            }
            copy(from, to.path(), path)?;
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path, path: &RepositoryPath) -> Result<(), CopyError> {
    use crate::filesystem::directory::DIRECTORY;
    use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat};
    use std::{fs::File, os::fd::OwnedFd};
    let doing = || format!("copying {path} to {}", to.display());
    let not_a_file = |root: &Path| CopyError::NotAFile { path: path.clone(), root: root.to_owned() };
    let is_link = |error: rustix::io::Errno| [rustix::io::Errno::LOOP, rustix::io::Errno::NOTDIR].contains(&error);
    let relative = path.to_path();
    let Some(name) = relative.file_name() else { return Err(not_a_file(from)) };
    let directories: Vec<_> = relative.parent().into_iter().flat_map(Path::components).collect();

    // Part by part, so that no link in the path is followed.
    let root = |root: &Path| openat(CWD, root, DIRECTORY.difference(OFlags::NOFOLLOW), Mode::empty());
    let mut directory: OwnedFd = root(from).map_err(std::io::Error::from).doing(doing)?;
    let missing = || CopyError::Missing { path: path.clone(), root: from.to_owned() };
    for part in &directories {
        directory = match openat(&directory, part.as_os_str(), DIRECTORY, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Err(missing()),
            Err(error) if is_link(error) => return Err(not_a_file(from)),
            opened => opened.map_err(std::io::Error::from).doing(doing)?,
        };
    }
    // Without `NONBLOCK`, a pipe would block.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(&directory, name, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Err(missing()),
        Err(error) if is_link(error) => return Err(not_a_file(from)),
        opened => opened.map_err(std::io::Error::from).doing(doing)?,
    };
    let found = fstat(&file).map_err(std::io::Error::from).doing(doing)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(not_a_file(from));
    }

    let mut directory: OwnedFd = root(to).map_err(std::io::Error::from).doing(doing)?;
    for part in &directories {
        match mkdirat(&directory, part.as_os_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            made => made.map_err(std::io::Error::from).doing(doing)?,
        }
        directory = match openat(&directory, part.as_os_str(), DIRECTORY, Mode::empty()) {
            Err(error) if is_link(error) => return Err(not_a_file(to)),
            opened => opened.map_err(std::io::Error::from).doing(doing)?,
        };
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // With the same permissions and no more: the file may hold secrets.
    let copy = match openat(&directory, name, flags, Mode::from_raw_mode(found.st_mode & 0o777)) {
        Err(rustix::io::Errno::EXIST) => return Err(CopyError::Exists { path: path.clone() }),
        opened => opened.map_err(std::io::Error::from).doing(doing)?,
    };
    std::io::copy(&mut File::from(file), &mut File::from(copy)).map(drop).doing(doing)?;
    Ok(())
}
