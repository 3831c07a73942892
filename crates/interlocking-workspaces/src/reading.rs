//! Functions with which handlers read from a repository. Git work is synchronous, so it runs on a blocking thread.

use crate::blocking::spawn_blocking;
use crate::file_path::FilePath;
use interlocking_core::failure::NodeError;
use interlocking_worktree::{CommitId, FileChange, Repository};
use std::collections::BTreeSet;

/// Runs git work on a blocking thread.
///
/// # Errors
///
/// Those of `work`.
pub async fn in_repository<T: Send + 'static>(
    repository: Repository,
    work: impl FnOnce(&Repository) -> Result<T, NodeError> + Send + 'static,
) -> Result<T, NodeError> {
    spawn_blocking(move || work(&repository)).await?
}

/// A file of a commit as text, with replacement characters where it is not UTF-8; none if it does not exist.
///
/// # Errors
///
/// Where the commit or the file cannot be read.
pub async fn text_at(repository: Repository, commit: CommitId, file: &FilePath) -> Result<Option<String>, NodeError> {
    let path = file.in_repository().clone();
    in_repository(repository, move |repository| {
        Ok(repository.read_file(commit, &path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    })
    .await
}

/// The paths in which two commits differ; for a renamed file both.
///
/// # Errors
///
/// Where one of the commits cannot be read.
pub async fn changed_paths(
    repository: Repository,
    from: CommitId,
    to: CommitId,
) -> Result<BTreeSet<String>, NodeError> {
    in_repository(repository, move |repository| Ok(touched_paths(&repository.diff(from, to)?))).await
}

/// The paths of changes; for a renamed file both.
pub fn touched_paths(changes: &[FileChange]) -> BTreeSet<String> {
    changes.iter().flat_map(FileChange::touched).map(|path| path.to_text().into_owned()).collect()
}

/// Whether `older` is `newer` or an ancestor of it; false if one of them does not exist.
///
/// # Errors
///
/// Where their history cannot be read.
pub async fn is_ancestor(repository: Repository, older: CommitId, newer: CommitId) -> Result<bool, NodeError> {
    in_repository(repository, move |repository| {
        let exists = |commit| repository.commit(commit).is_ok();
        Ok(exists(older) && exists(newer) && repository.is_ancestor(older, newer)?)
    })
    .await
}

/// Whether each of two commits has a commit in its history that the other has not.
///
/// # Errors
///
/// Where their history cannot be read.
pub async fn diverged(repository: Repository, one: CommitId, other: CommitId) -> Result<bool, NodeError> {
    in_repository(repository, move |repository| {
        Ok(!repository.is_ancestor(one, other)? && !repository.is_ancestor(other, one)?)
    })
    .await
}
