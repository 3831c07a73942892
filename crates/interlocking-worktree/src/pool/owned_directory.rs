//! A directory that belongs to a repository, such as a pool's: a marker file in it names the repository.

use std::{fs::File, path::Path};

use crate::{
    filesystem::own_paths,
    recovery::process_lock::LockedFile,
    repository::Repository,
    untrusted::file::{self, Kind, open_with},
    values::git_error::{Doing as _, GitError},
    worktrees::new_worktree::CreateError,
};

/// Claims `directory` for the repository, unless it belongs to it already. Returns false if it holds something else,
/// which is not touched.
pub(crate) fn claim(repository: &Repository, directory: &Path, marker: &str) -> Result<bool, CreateError> {
    let doing = || format!("opening {}", directory.display());
    let (marker, owner) = (directory.join(marker), repository.common_directory().as_os_str().as_encoded_bytes());
    // One at a time, across processes too: a half-written marker would count as another repository's.
    let _registration = repository.lock_registration()?;
    match file::read(&marker, Kind::Link)? {
        // A worktree may have been made around the directory since: when the directory was claimed, it was outside.
        Some(found) => Ok(found.bytes == owner),
        None => {
            repository.check_outside(directory)?;
            own_paths::create_dir_all(directory).doing(doing)?;
            if own_paths::read_dir(directory).doing(doing)?.next().is_some() {
                return Ok(false);
            }
            file::write_anew(marker, owner).doing(doing)?;
            Ok(true)
        }
    }
}

/// Locks the directory for other threads and processes that call this.
pub(crate) fn lock(directory: &Path, marker: &str) -> Result<LockedFile, GitError> {
    let path = directory.join(marker);
    let doing = || format!("locking {}", path.display());
    let file = open_with(&path, Kind::Link, File::options().read(true).write(true))?;
    let file = file.ok_or_else(|| GitError::new(doing(), "it is gone"))?;
    LockedFile::wait_for(file).doing(doing)
}
