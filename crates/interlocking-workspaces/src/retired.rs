//! Worktrees that are not needed any more, and from which others of the run and its children are made.
//!
//! Writing the files of a worktree is nearly all that making one costs, and deleting them costs as much again. So where the settings say
//! so, a worktree goes into a pool in the run's directory. It is cleaned there by a thread of its own while the run goes on.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{BranchName, CommitId, Force, Pool, Retired as RetiredWorktree, Worktree};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The worktrees of a tree of runs that are to be used again.
#[derive(Default)]
pub(crate) struct Retired {
    pool: Mutex<Option<Pool>>,
    /// Clean them.
    cleaning: Mutex<Vec<JoinHandle<()>>>,
}

impl Retired {
    /// Returns once none is being cleaned.
    pub(crate) fn wait(&self) {
        let cleaning = std::mem::take(&mut *self.cleaning.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in cleaning {
            // One that has panicked has left files, which go with the run's directory.
            let _ = thread.join();
        }
    }
}

/// What a new worktree is on.
pub(crate) enum On {
    /// A branch that is made.
    New(BranchName),
    /// A branch that is there.
    Existing(BranchName),
    /// None.
    NoBranch,
}

impl GitRun {
    /// Makes a worktree at `at`, which is where a branch is that is there. Git work.
    pub(crate) fn create_worktree(
        &self,
        directory: &Path,
        on: On,
        at: CommitId,
    ) -> Result<Worktree, GitWorkspacesError> {
        let repository = &self.settings().repository;
        Ok(match (self.pool()?, on) {
            (Some(pool), On::Existing(branch)) => pool.create_worktree_on(directory, branch),
            (Some(pool), On::New(branch)) => pool.create_worktree(directory, branch, at),
            (Some(pool), On::NoBranch) => pool.create_detached_worktree(directory, at),
            (None, On::Existing(branch)) => repository.create_worktree_on(directory, branch),
            (None, On::New(branch)) => repository.create_worktree(directory, branch, at),
            (None, On::NoBranch) => repository.create_detached_worktree(directory, at),
        }?)
    }

    /// Writes the files of one more worktree, unless so many are ready or none is used again. Whether it did. Git work.
    pub(crate) fn prepare_worktree(&self, count: usize, at: CommitId) -> Result<bool, GitWorkspacesError> {
        if !self.settings().reuses_worktrees {
            return Ok(false);
        }
        self.claim()?;
        self.lives()?;
        match self.pool()? {
            Some(pool) if pool.ready()? < count => Ok(pool.prepare(at)?),
            _ => Ok(false),
        }
    }

    /// Takes away these workspaces, while others go on. Git work.
    pub(crate) fn put_away(&self, directories: &[PathBuf]) -> Result<(), GitWorkspacesError> {
        let mut retired = Vec::new();
        for directory in directories {
            retired.extend(self.retire_worktrees(directory)?);
        }
        if !retired.is_empty() {
            let mut cleaning = self.0.tree.retired.cleaning.lock().unwrap_or_else(PoisonError::into_inner);
            cleaning.retain(|thread| !thread.is_finished());
            // To drop one is to clean it.
            cleaning.push(thread::spawn(|| drop(retired)));
        }
        let mut result = Ok(());
        for directory in directories {
            result = result.and(self.clear(directory));
        }
        result
    }

    /// Takes the worktrees at a directory and below out of use, if worktrees are used again. To drop what is given is to clean them. Git
    /// work.
    pub(crate) fn retire_worktrees(&self, directory: &Path) -> Result<Vec<RetiredWorktree>, GitWorkspacesError> {
        let Some(pool) = self.pool()? else { return Ok(Vec::new()) };
        let repository = &self.settings().repository;
        let worktrees = repository.worktrees_in(directory)?.into_iter().filter_map(|entry| {
            // What is not fit for it is removed like any other.
            pool.retire(&repository.open_worktree(&entry.path).ok()?, Force::EvenIfLocked).ok()
        });
        Ok(worktrees.collect())
    }

    /// Where retired worktrees are, if any are to be used again.
    fn pool(&self) -> Result<Option<Pool>, GitWorkspacesError> {
        if !self.settings().reuses_worktrees {
            return Ok(None);
        }
        let mut known = self.0.tree.retired.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            // There are never more than were in use at once.
            *known = Some(Pool::open(&self.settings().repository, self.retired_directory(), usize::MAX)?);
        }
        Ok(known.clone())
    }
}
