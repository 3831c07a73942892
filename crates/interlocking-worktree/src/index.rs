//! The index file: reading it, and replacing it under its lock.

use std::{io::Write as _, path::PathBuf, time::Duration};

use crate::{
    git_error::{Doing as _, GitError},
    lock_file::{LockError, LockFile},
    mend::mend_locks,
    note::{Intent, Note, canonical_common_directory},
    path::RepositoryPath,
    step,
    worktree::WorktreeError,
};

/// Agents run `git add` and editors run `git status`; those take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The index of a worktree, locked. Dropped without [`replace`], the index stays as it was.
#[derive(Debug)]
pub(crate) struct IndexLock {
    // The lock goes before the note of it does.
    file: LockFile,
    note: Note,
    /// Canonical: the worktree's private directory.
    pub(crate) git_directory: PathBuf,
}

impl IndexLock {
    /// Puts down what is about to be done under this lock.
    pub(crate) fn announce(&self, intent: &Intent) -> Result<(), GitError> {
        self.note.add(intent)
    }
}

/// Takes `index.lock`, waiting for a while.
pub(crate) fn lock(git: &gix::Repository) -> Result<IndexLock, WorktreeError> {
    let doing = || format!("locking {}", git.index_path().display());
    let git_directory = std::fs::canonicalize(git.git_dir()).doing(doing)?;
    let path = git_directory.join("index");
    let mut note = Note::write(&canonical_common_directory(git)?, &[])?;
    let mend = || drop(mend_locks(git));
    match LockFile::acquire(&mut note, &path, PATIENCE, mend) {
        Ok(file) => Ok(IndexLock { file, note, git_directory }),
        Err(LockError::Busy) => {
            let mut lock = path.into_os_string();
            lock.push(".lock");
            Err(WorktreeError::IndexBusy { lock: lock.into() })
        }
        Err(LockError::Failed(error)) => Err(GitError::new(doing(), error.to_string()).into()),
    }
}

/// Reads the index from disk, or begins an empty one.
///
/// `reveal`: forget "assume unchanged" and, without a sparse checkout, "skip worktree". Whoever sets these in an
/// agent's worktree hides a change from every later look at it.
pub(crate) fn read(git: &gix::Repository, reveal: bool) -> Result<gix::index::File, GitError> {
    let path = git.index_path();
    let mut index = if path.exists() {
        git.open_index().doing(|| format!("reading {}", path.display()))?
    } else {
        gix::index::File::from_state(gix::index::State::new(git.object_hash()), path)
    };
    if reveal {
        let mut hiding = gix::index::entry::Flags::ASSUME_VALID;
        let is_sparse = git.config_snapshot().boolean("core.sparseCheckout") == Some(true);
        if !is_sparse {
            hiding |= gix::index::entry::Flags::SKIP_WORKTREE;
        }
        for entry in index.entries_mut() {
            entry.flags.remove(hiding);
        }
    }
    Ok(index)
}

/// The paths that a merge left unresolved.
pub(crate) fn conflicted(index: &gix::index::State) -> Vec<RepositoryPath> {
    let unresolved = index.entries().iter().filter(|entry| entry.stage() != gix::index::entry::Stage::Unconflicted);
    let mut paths: Vec<_> = unresolved.map(|entry| RepositoryPath::from_git(entry.path(index))).collect();
    // Up to three stages of one path stand together.
    paths.dedup();
    paths
}

/// Writes `index` into the lock, so that [`replace`] has only to rename it.
pub(crate) fn stage(lock: IndexLock, index: &mut gix::index::File) -> Result<IndexLock, GitError> {
    let path = index.path().to_owned();
    let doing = || format!("writing {}", path.display());
    // It is written as it was read, and would tell git that changed directories have not changed.
    index.remove_tree();
    let IndexLock { file, note, git_directory } = lock;
    let mut out = std::io::BufWriter::with_capacity(64 * 1024, file);
    index.write_to(&mut out, gix::index::write::Options::default()).doing(doing)?;
    out.flush().doing(doing)?;
    let file = out.into_inner().map_err(std::io::IntoInnerError::into_error).doing(doing)?;
    step::reached("an index is staged");
    Ok(IndexLock { file, note, git_directory })
}

/// Puts the staged index in place.
pub(crate) fn replace(staged: IndexLock) -> Result<(), GitError> {
    let path = staged.file.resource().to_owned();
    staged.file.commit().doing(|| format!("replacing {}", path.display()))
}
