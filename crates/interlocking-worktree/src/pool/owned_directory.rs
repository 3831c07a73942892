//! A directory of our own, a pool's, which says in a file whose it is.

use std::{fs::File, path::Path};

use crate::{
    filesystem::own_paths,
    recovery::process_lock::Held,
    repository::Repository,
    untrusted::file::{self, Kind, open_with},
    values::git_error::{Doing as _, GitError},
    worktrees::new_worktree::CreateError,
};

/// Makes `directory` the repository's own, or finds that it is. False if something else is in it, which is not touched.
pub(crate) fn own(repository: &Repository, directory: &Path, marker: &str) -> Result<bool, CreateError> {
    let doing = || format!("opening {}", directory.display());
    let (marker, owner) = (directory.join(marker), repository.common_directory().as_os_str().as_encoded_bytes());
    // One at a time, across processes too: a marker that is half written is nobody's.
    let _registration = repository.lock_registration()?;
    match file::read(&marker, Kind::Link)? {
        // A worktree of its own may lie around it: it was outside when it was made.
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

/// Holds the directory against every other thread and process that does.
pub(crate) fn lock(directory: &Path, marker: &str) -> Result<Held, GitError> {
    let path = directory.join(marker);
    let doing = || format!("locking {}", path.display());
    let file = open_with(&path, Kind::Link, File::options().read(true).write(true))?;
    let file = file.ok_or_else(|| GitError::new(doing(), "it is gone"))?;
    Held::wait_for(file).doing(doing)
}
