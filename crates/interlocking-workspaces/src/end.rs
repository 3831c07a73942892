//! What becomes of a run's workspaces when it has ended.
//!
//! A child's worktrees go when it ends, unless they are to stay, and its branches with those of the run that was started: until then its
//! parent may want them.

use crate::alive::ALIVE;
use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::named_branches::BRANCHES;
use interlocking_runtime::workspaces::RunEnd;
use interlocking_worktree::{BranchName, CommitId, Keep, delete_directory};
use std::fs;
use std::sync::PoisonError;

impl GitRun {
    /// Takes away what is not to be kept; where the run stops to be resumed, nothing. Git work.
    pub(crate) fn end(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        self.close();
        self.0.tree.retired.wait();
        self.0.tree.named.ends(&self.0.names.label);
        let ended = self.take_away(end);
        if !self.is_child() {
            // Whoever finds something now can deal with it.
            *self.0.tree.alive.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        ended
    }

    fn take_away(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        let checkouts = match self.is_child() {
            true => Ok(()),
            // Nothing of an agent's is in there.
            false => delete_directory(self.checkouts_directory()).and_then(|()| match end {
                // Whoever goes on uses them.
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
        // They are in there.
        self.remove(end)
    }

    /// Takes away all that there is of a run; of a child, all but its branches. Git work.
    pub(crate) fn remove(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        let directory = self.own_directory();
        if self.is_child() {
            drop(self.retire_worktrees(&directory)?);
            return self.clear(&directory);
        }
        let mut cleared = Ok(());
        // What shows that there is something left goes last.
        let is_note = |entry: &fs::DirEntry| [ALIVE, BRANCHES].iter().any(|name| entry.file_name() == *name);
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten().filter(|entry| !is_note(entry)) {
            cleared = cleared.and(self.clear(&entry.path()));
        }
        // What did not land would be lost with its branch.
        let archives = end != RunEnd::Finished || !*self.has_landed();
        let deleted = self.delete_branches(archives);
        // And worktrees whose files are gone already.
        let cleared = cleared.and(deleted).and_then(|()| self.clear(&directory));
        // It goes if there is nothing of other runs in it.
        let _ = fs::remove_dir(&self.settings().directory);
        cleared
    }

    /// The branches of the run and its children.
    pub(crate) fn branches(&self) -> Result<Vec<(BranchName, CommitId)>, GitWorkspacesError> {
        let (prefix, named) = (self.tree_prefix(), self.named_branches()?);
        let branches = self.settings().repository.branches()?.into_iter();
        Ok(branches.filter(|(branch, _)| branch.as_str().starts_with(&prefix) || named.contains(branch)).collect())
    }

    /// Deletes the branches of the run and its children.
    fn delete_branches(&self, archives: bool) -> Result<(), GitWorkspacesError> {
        let repository = &self.settings().repository;
        let mut landed_on = Vec::new();
        for branch in [self.landing(), self.target()].into_iter().flatten() {
            landed_on.extend(repository.branch_head(&branch)?);
        }
        let mut result = Ok(());
        for (branch, head) in self.branches()? {
            let mut has_landed = false;
            for landed_on in &landed_on {
                has_landed |= repository.is_ancestor(head, *landed_on)?;
            }
            result = result.and(match archives && !has_landed {
                true => self.set_aside(&branch, head),
                false => repository.delete_branch(&branch, head).map_err(Into::into),
            });
        }
        result
    }
}
