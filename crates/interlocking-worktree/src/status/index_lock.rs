//! Replacing the index file under its lock.

use std::{
    io::Write as _,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use gix::ObjectId;

use crate::{
    recovery::{
        intent_log::{Intent, Note, canonical_common_directory},
        lock_file::{LockError, LockFile},
        recover_locks::recover_locks,
        step,
    },
    status::index::to_bytes,
    untrusted::{
        Limits,
        known_index::{self, KnownIndex},
    },
    values::{
        git_error::{Doing as _, GitError},
        worktree_error::WorktreeError,
    },
};

/// How long to wait. Agents run `git add` and editors run `git status`, which take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The locked index of a worktree. If it is dropped without [`replace`], the index is unchanged.
#[derive(Debug)]
pub(crate) struct IndexLock {
    // The lock is dropped before its note.
    file: LockFile,
    note: Note,
    /// The canonical path of the worktree's private directory.
    pub(crate) git_directory: PathBuf,
    limits: Limits,
}

impl IndexLock {
    /// Notes what is about to be done under this lock.
    pub(crate) fn announce(&self, intent: &Intent) -> Result<(), GitError> {
        self.note.add(intent)
    }
}

/// Takes `index.lock`, waiting up to [`PATIENCE`].
pub(crate) fn lock(git: &gix::Repository) -> Result<IndexLock, WorktreeError> {
    let doing = || format!("locking {}", git.index_path().display());
    let git_directory = std::fs::canonicalize(git.git_dir()).doing(doing)?;
    let path = git_directory.join("index");
    let mut note = Note::write(&canonical_common_directory(git)?, &[])?;
    let recover = || drop(recover_locks(git));
    let begun = Instant::now();
    match LockFile::acquire(&mut note, &path, PATIENCE, recover) {
        Ok(file) => Ok(IndexLock { file, note, git_directory, limits: Limits::of(git) }),
        Err(LockError::Busy) => {
            let mut lock = path.into_os_string();
            lock.push(".lock");
            Err(WorktreeError::IndexBusy { lock: lock.into(), waited: begun.elapsed() })
        }
        Err(LockError::Failed(error)) => Err(GitError::new(doing(), error.to_string()).into()),
    }
}

/// Writes `index` into the lock file, so that [`replace`] only has to rename it. `tree` is as for [`to_bytes`].
pub(crate) fn stage(lock: IndexLock, index: &gix::index::File, tree: Option<ObjectId>) -> Result<IndexLock, GitError> {
    let doing = || format!("writing {}", index.path().display());
    let IndexLock { mut file, note, git_directory, limits } = lock;
    let bytes = to_bytes(index, tree).doing(doing)?;
    file.write_all(&bytes).doing(doing)?;
    step::reached("an index is staged");
    let known = KnownIndex::written(bytes, limits, gix::index::State::clone(index), tree);
    known_index::keep(index.path(), &Arc::new(known));
    Ok(IndexLock { file, note, git_directory, limits })
}

/// Puts the staged index in place.
pub(crate) fn replace(staged: IndexLock) -> Result<(), GitError> {
    let path = staged.file.resource().to_owned();
    staged.file.commit().doing(|| format!("replacing {}", path.display()))
}
