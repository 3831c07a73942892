//! Listing and opening worktrees.

use std::path::{Path, PathBuf};

use crate::{
    repository::Repository,
    untrusted::git_directory,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
    },
    worktrees::{head_file::head_of_entry, worktree::Worktree},
};

/// An entry of git's list of worktrees. The main worktree is not in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeEntry {
    /// Its name.
    pub name: String,
    /// The root of its files.
    pub path: PathBuf,
    /// The branch it is on; none if its HEAD is detached or unreadable.
    pub branch: Option<BranchName>,
    /// The commit it is at; none if its branch does not exist or has no commit, or its HEAD is unreadable.
    pub head: Option<CommitId>,
    /// Why it is locked, if it is; "initializing" if a crash left it half made.
    pub locked: Option<String>,
    /// Whether its directory is gone.
    pub is_missing: bool,
}

/// A worktree could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenWorktreeError {
    /// No worktree of this repository is registered at this path.
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

    /// The linked worktrees that lie at or below a directory, and those that are gone and lay there according to their
    /// entries. The directory need not exist any more. Links above it are followed; links at it and below it, which an
    /// agent may have made, and `..` in an entry, which it may have written, do not lead to worktrees elsewhere.
    pub fn worktrees_in(&self, directory: impl AsRef<Path>) -> Result<Vec<WorktreeEntry>, GitError> {
        let (directory, real) = (directory.as_ref(), real(directory.as_ref()));
        let is_below = |path: &Path| path.starts_with(directory) || path.starts_with(&real);
        let _registration = self.lock_registration()?;
        self.list_where(|path| is_below(path) && std::fs::canonicalize(path).map_or(true, |at| at.starts_with(&real)))
    }

    /// Opens the worktree whose root is at `path`, on the branch that it has checked out.
    pub fn open_worktree(&self, path: impl AsRef<Path>) -> Result<Worktree, OpenWorktreeError> {
        let path = path.as_ref();
        let mut found = {
            let _registration = self.lock_registration()?;
            let found = self.list_where(|listed| listed == path)?;
            match std::fs::canonicalize(path) {
                // The list may have another path of the same directory.
                Ok(canonical) if found.is_empty() => {
                    self.list_where(|listed| std::fs::canonicalize(listed).is_ok_and(|listed| listed == canonical))?
                }
                _ => found,
            }
        };
        match found.pop() {
            Some(entry) => Ok(Worktree::linked(self.clone(), entry.name, entry.path, entry.branch)),
            None => Err(OpenWorktreeError::NotRegistered {
                repository: self.common_directory().to_owned(),
                path: path.to_owned(),
            }),
        }
    }

    /// The caller holds the registration lock.
    pub(crate) fn list(&self) -> Result<Vec<WorktreeEntry>, GitError> {
        self.list_where(|_| true)
    }

    /// The worktrees whose root satisfies `is_wanted`. The caller holds the registration lock.
    fn list_where(&self, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<WorktreeEntry>, GitError> {
        let doing = || format!("listing the worktrees of {}", self.common_directory().display());
        git_directory::check_list(self.common_directory(), self.limits())?;
        let git = self.git();
        let mut entries = Vec::new();
        for proxy in git.worktrees().doing(doing)? {
            let name = proxy.id().doing(doing)?.to_string();
            // Git writes an entry in several steps, without taking the registration lock.
            let Some(path) = proxy.base().ok().filter(|path| is_wanted(path)) else { continue };
            let locked = proxy.lock_reason().map(|reason| reason.to_string());
            let is_missing = !path.is_dir();
            let (branch, head) = head_of_entry(&git, proxy).map_or((None, None), |head| (head.branch, head.commit));
            entries.push(WorktreeEntry { name, path, branch, head, locked, is_missing });
        }
        Ok(entries)
    }
}

/// The directory's path with the links above it resolved, even if the directory does not exist any more.
fn real(directory: &Path) -> PathBuf {
    match (directory.parent(), directory.file_name()) {
        (Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            std::fs::canonicalize(parent).unwrap_or_else(|_| real(parent)).join(name)
        }
        _ => std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned()),
    }
}
