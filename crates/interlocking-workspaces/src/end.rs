//! Cleaning up a run's workspaces when it has ended.
//!
//! A child's worktrees are removed when it ends, unless they are to be kept. Its branches are removed with those of the
//! root run: until then its parent may need them.

use crate::alive::ALIVE;
use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_runtime::workspaces::RunEnd;
use interlocking_worktree::{ArchiveError, BranchName, CommitId, Keep, delete_directory};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::PoisonError;

impl GitRun {
    /// Removes what is not to be kept. If the run stops to be resumed, that is only its fresh checkouts. Git work.
    pub(crate) fn end(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        self.close();
        self.delete_moved_away();
        self.0.tree.retired.wait();
        self.0.tree.named.remove_active(&self.0.names.label);
        let ended = self.remove_unless_kept(end);
        if !self.is_child() {
            // From here on, another process can take over what is left.
            *self.0.tree.alive.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        ended
    }

    fn remove_unless_kept(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        let checkouts = match self.is_child() {
            true => Ok(()),
            // These hold nothing that an agent has made.
            false => delete_directory(self.checkouts_directory()).and_then(|()| match end {
                // The process that resumes the run uses them.
                RunEnd::Stopped => Ok(()),
                _ => delete_directory(self.retired_directory()),
            }),
        };
        let keeps = match self.settings().keep {
            _ if end == RunEnd::Stopped => true,
            _ if self.is_child() && self.settings().keeps_children => true,
            Keep::Never => false,
            Keep::OnFailure => end != RunEnd::Finished,
            Keep::Always => true,
        };
        if keeps || !self.is_claimed() {
            return Ok(checkouts?);
        }
        // The checkouts are below the run's directory, too.
        self.remove(end)
    }

    /// Removes everything of a run; of a child, everything but its branches. Git work.
    pub(crate) fn remove(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        let directory = self.own_directory();
        if self.is_child() {
            drop(self.retire_worktrees(&directory)?);
            return self.clear(&directory);
        }
        let mut cleared = Ok(());
        // The file that shows that something is left is removed last.
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name() != ALIVE) {
            cleared = cleared.and(self.clear(&entry.path()));
        }
        // A branch stays as long as git's list has it checked out, also at a place that is gone.
        cleared = cleared.and(self.remove_worktrees(&directory));
        let deleted = self.delete_branches(end);
        // The notes stay if a branch can still be deleted later, which does not hold for a branch without a commit.
        if matches!(deleted, Ok(()) | Err(GitWorkspacesError::BranchUnreadable { .. })) {
            cleared = cleared.and_then(|()| self.forget_branches()).and_then(|()| self.remove_directory(&directory));
        }
        // Removed if it holds nothing of other runs.
        let _ = fs::remove_dir(&self.settings().directory);
        cleared.and(deleted)
    }

    /// Removes the run's directory, and worktrees in it whose files are already gone. The run's lock goes last: from
    /// then on, a process that has waited for it has the run, and may be making the directory again.
    fn remove_directory(&self, directory: &Path) -> Result<(), GitWorkspacesError> {
        let lock = directory.join(ALIVE);
        if fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir()) {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
            entries.filter(|path| *path != lock).try_for_each(|path| self.clear(&path))?;
            self.remove_worktrees(directory)?;
            delete_directory(&lock)?;
            return match fs::remove_dir(directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound && !lock.exists() => {
                    Err(GitWorkspacesError::Directory { path: directory.to_owned(), reason: error.to_string() })
                }
                _ => Ok(()),
            };
        }
        self.clear(directory)
    }

    /// The branches of the run and its children. Others are read only if the settings have named any of these.
    pub(crate) fn branches(&self) -> Result<Vec<(BranchName, CommitId)>, GitWorkspacesError> {
        let (prefix, named) = (self.tree_prefix(), self.named_branches()?);
        let repository = &self.settings().repository;
        if named.is_empty() {
            return Ok(repository.branches_below(&BranchName::new(self.0.names.root.as_str())?)?);
        }
        let branches = repository.branches()?.into_iter();
        Ok(branches.filter(|(branch, _)| branch.as_str().starts_with(&prefix) || named.contains(branch)).collect())
    }

    /// The heads of the branches that the run lands on and begins at.
    pub(crate) fn landed_on(&self) -> Vec<CommitId> {
        let branches = [self.landing(), self.target()].into_iter().flatten();
        branches.filter_map(|branch| self.settings().repository.branch_head(&branch).ok().flatten()).collect()
    }

    /// Deletes the branches of the run and its children. Heads that did not land are archived, also of a run that has
    /// finished if they were made after its last landing. If such a head is not a readable commit, its branch stays; the
    /// error is [`GitWorkspacesError::BranchUnreadable`] if nothing else has failed.
    fn delete_branches(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        let repository = &self.settings().repository;
        let at_landing = self.at_landing();
        let is_settled = |at| end == RunEnd::Finished && at_landing.contains(&at);
        let landed_on = self.landed_on();
        // A commit whose history cannot be read is archived.
        let has_landed = |head| landed_on.iter().any(|at| matches!(repository.is_ancestor(head, *at), Ok(true)));
        let (mut result, mut readable) = (Ok(()), Ok(()));
        for (branch, head) in self.branches()? {
            let deleted = match is_settled((branch.clone(), head)) || has_landed(head) {
                true => repository.delete_branch(&branch, head).map_err(Into::into),
                false => self.archive_and_delete(&branch, head),
            };
            match deleted {
                Err(GitWorkspacesError::Archive(ArchiveError::NoSuchCommit { commit: at })) => {
                    readable = readable.and(Err(GitWorkspacesError::BranchUnreadable { branch, at }));
                }
                deleted => result = result.and(deleted),
            }
        }
        result.and(readable)
    }
}
