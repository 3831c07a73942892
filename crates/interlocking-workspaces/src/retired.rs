//! The pool of retired worktrees, from which other worktrees of the run and its children are made.
//!
//! Most of the time to make a worktree goes into writing its files, and deleting them takes as long again. So if the
//! settings say so, a worktree is retired into a pool in the run's directory. A separate thread cleans it while the run
//! goes on.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{BranchName, CommitId, Force, Pool, Retired as RetiredWorktree, Worktree};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The worktrees of a tree of runs that are to be reused.
#[derive(Default)]
pub(crate) struct Retired {
    pool: Mutex<Option<Pool>>,
    /// The threads that clean worktrees.
    cleaning: Mutex<Vec<JoinHandle<()>>>,
}

impl Retired {
    /// Waits until no worktree is being cleaned.
    pub(crate) fn wait(&self) {
        let cleaning = std::mem::take(&mut *self.cleaning.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in cleaning {
            // A thread that panicked has left files, which are removed with the run's directory.
            let _ = thread.join();
        }
    }
}

/// The branch of a new worktree.
pub(crate) enum NewHead {
    /// A branch that is created.
    New(BranchName),
    /// An existing branch.
    Existing(BranchName),
    /// No branch: a detached HEAD.
    NoBranch,
}

impl GitRun {
    /// Makes a worktree at `at`, which is the head of the branch if that exists. Git work.
    pub(crate) fn create_worktree(
        &self,
        directory: &Path,
        on: NewHead,
        at: CommitId,
    ) -> Result<Worktree, GitWorkspacesError> {
        let repository = &self.settings().repository;
        Ok(match (self.pool()?, on) {
            (Some(pool), NewHead::Existing(branch)) => pool.create_worktree_on(directory, branch),
            (Some(pool), NewHead::New(branch)) => pool.create_worktree(directory, branch, at),
            (Some(pool), NewHead::NoBranch) => pool.create_detached_worktree(directory, at),
            (None, NewHead::Existing(branch)) => repository.create_worktree_on(directory, branch),
            (None, NewHead::New(branch)) => repository.create_worktree(directory, branch, at),
            (None, NewHead::NoBranch) => repository.create_detached_worktree(directory, at),
        }?)
    }

    /// Writes the files of one more worktree, unless `count` are ready or worktrees are not reused. Returns whether it
    /// did. Git work.
    pub(crate) fn prepare_worktree(&self, count: usize, at: CommitId) -> Result<bool, GitWorkspacesError> {
        if !self.settings().reuses_worktrees {
            return Ok(false);
        }
        self.claim()?;
        self.mark_active()?;
        match self.pool()? {
            Some(pool) if pool.ready()? < count => Ok(pool.prepare(at)?),
            _ => Ok(false),
        }
    }

    /// Removes these workspaces while the run goes on with others. Git work.
    pub(crate) fn remove_workspaces(&self, directories: &[PathBuf]) -> Result<(), GitWorkspacesError> {
        let mut retired = Vec::new();
        for directory in directories {
            retired.extend(self.retire_worktrees(directory)?);
        }
        if !retired.is_empty() {
            let mut cleaning = self.0.tree.retired.cleaning.lock().unwrap_or_else(PoisonError::into_inner);
            cleaning.retain(|thread| !thread.is_finished());
            // Dropping a retired worktree cleans it.
            cleaning.push(thread::spawn(|| drop(retired)));
        }
        let mut result = Ok(());
        for directory in directories {
            result = result.and(self.clear(directory));
        }
        result
    }

    /// Retires the worktrees at or below a directory, if worktrees are reused. Dropping the returned values cleans
    /// them. Git work.
    pub(crate) fn retire_worktrees(&self, directory: &Path) -> Result<Vec<RetiredWorktree>, GitWorkspacesError> {
        let Some(pool) = self.pool()? else { return Ok(Vec::new()) };
        let repository = &self.settings().repository;
        let worktrees = repository.worktrees_in(directory)?.into_iter().filter_map(|entry| {
            // A worktree that cannot be reused is removed like any other.
            let warn = |error: &dyn std::fmt::Display| {
                tracing::warn!(%error, directory = %entry.path.display(), "a worktree is not reused");
            };
            let worktree = repository.open_worktree(&entry.path).inspect_err(|error| warn(error)).ok()?;
            pool.retire(&worktree, Force::EvenIfLocked).inspect_err(|error| warn(error)).ok()
        });
        Ok(worktrees.collect())
    }

    /// The pool of retired worktrees, if worktrees are reused.
    fn pool(&self) -> Result<Option<Pool>, GitWorkspacesError> {
        if !self.settings().reuses_worktrees {
            return Ok(None);
        }
        let mut known = self.0.tree.retired.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            // No limit is needed: there are never more than were in use at once.
            *known = Some(Pool::open(&self.settings().repository, self.retired_directory(), usize::MAX)?);
        }
        Ok(known.clone())
    }
}
