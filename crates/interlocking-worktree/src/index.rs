//! The index file: reading it, and replacing it under its lock.

use std::{io::Write as _, time::Duration};

use crate::{
    git_error::{Doing as _, GitError},
    path::RepositoryPath,
    worktree::WorktreeError,
};

/// Agents run `git add` and editors run `git status`; those take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes `index.lock`, waiting for a while. Dropped without [`replace`], the index stays as it was.
pub(crate) fn lock(git: &gix::Repository) -> Result<gix::lock::File, WorktreeError> {
    let path = git.index_path();
    gix::lock::File::acquire_to_update_resource(
        &path,
        gix::lock::acquire::Fail::AfterDurationWithBackoff(PATIENCE),
        None,
        0,
    )
    .map_err(|error| {
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        let lock = std::path::PathBuf::from(lock);
        if lock.exists() {
            WorktreeError::IndexBusy { lock }
        } else {
            let failed = Err::<(), _>(error).doing(|| format!("locking {}", path.display()));
            failed.expect_err("it is an error").into()
        }
    })
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
pub(crate) fn stage(lock: gix::lock::File, index: &mut gix::index::File) -> Result<gix::lock::File, GitError> {
    let path = index.path().to_owned();
    let doing = || format!("writing {}", path.display());
    // It is written as it was read, and would tell git that changed directories have not changed.
    index.remove_tree();
    let mut out = std::io::BufWriter::with_capacity(64 * 1024, lock);
    index.write_to(&mut out, gix::index::write::Options::default()).doing(doing)?;
    out.flush().doing(doing)?;
    out.into_inner().map_err(std::io::IntoInnerError::into_error).doing(doing)
}

/// Puts the staged index in place.
pub(crate) fn replace(staged: gix::lock::File) -> Result<(), GitError> {
    let path = staged.resource_path();
    staged.commit().map(drop).map_err(|failed| failed.error).doing(|| format!("replacing {}", path.display()))
}
