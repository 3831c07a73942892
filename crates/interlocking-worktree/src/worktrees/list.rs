//! Listing and opening worktrees.

use std::path::{Path, PathBuf};

use crate::{
    repository::{Repository, head_of},
    untrusted::git_directory,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
    },
    worktrees::worktree::Worktree,
};

/// A worktree as git lists it. The main one is not in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// Its name.
    pub name: String,
    /// The root of its files.
    pub path: PathBuf,
    /// The branch it is on; none if its HEAD is detached or unreadable.
    pub branch: Option<BranchName>,
    /// The commit it is at; none if its branch is gone or has none, or its HEAD is unreadable.
    pub head: Option<CommitId>,
    /// Why it is locked, if it is; "initializing" if a crash left it half-made.
    pub locked: Option<String>,
    /// Whether its directory is gone.
    pub is_missing: bool,
}

/// A worktree could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenWorktreeError {
    /// No worktree of this repository is there.
    #[error("no worktree of {} is at {}", repository.display(), path.display())]
    NotRegistered {
        /// The repository.
        repository: PathBuf,
        /// The place as given.
        path: PathBuf,
    },
    /// Something could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// The linked worktrees, ordered by name.
    pub fn worktrees(&self) -> Result<Vec<WorktreeEntry>, GitError> {
        let _registration = self.lock_registration()?;
        self.list()
    }

    /// Opens the worktree whose root is at `path`, on the branch it is on now.
    pub fn open_worktree(&self, path: impl AsRef<Path>) -> Result<Worktree, OpenWorktreeError> {
        let path = path.as_ref();
        let canonical = std::fs::canonicalize(path).ok();
        let entry = self.worktrees()?.into_iter().find(|entry| {
            entry.path == path || std::fs::canonicalize(&entry.path).ok() == canonical && canonical.is_some()
        });
        match entry {
            Some(entry) => Ok(Worktree::linked(self.clone(), entry.name, entry.path, entry.branch)),
            None => Err(OpenWorktreeError::NotRegistered {
                repository: self.common_directory().to_owned(),
                path: path.to_owned(),
            }),
        }
    }

    /// The caller holds the registration lock.
    pub(crate) fn list(&self) -> Result<Vec<WorktreeEntry>, GitError> {
        let doing = || format!("listing the worktrees of {}", self.common_directory().display());
        git_directory::look_at_list(self.common_directory(), self.limits())?;
        let git = self.git();
        let mut entries = Vec::new();
        for proxy in git.worktrees().doing(doing)? {
            let name = proxy.id().doing(doing)?.to_string();
            // Git writes an entry in several steps and takes our lock for none of them.
            let Ok(path) = proxy.base() else { continue };
            let locked = proxy.lock_reason().map(|reason| reason.to_string());
            let is_missing = !path.is_dir();
            let linked = proxy.into_repo_with_possibly_inaccessible_worktree().ok();
            let head = linked.and_then(|linked| head_of(&linked).ok());
            let (branch, head) = head.map_or((None, None), |head| (head.branch, head.commit));
            entries.push(WorktreeEntry { name, path, branch, head, locked, is_missing });
        }
        Ok(entries)
    }
}
