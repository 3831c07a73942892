//! What becomes of a run's workspaces when it has ended.
//!
//! A child's worktrees go when it ends, and its branches with those of the run that was started: until then its parent may want them.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_runtime::workspaces::RunEnd;
use interlocking_worktree::Keep;
use std::fs;

impl GitRun {
    /// Takes away what is not to be kept; where the run stops to be taken up again, nothing. Git work.
    pub(crate) fn end(&self, end: RunEnd) -> Result<(), GitWorkspacesError> {
        self.close();
        let keeps = match self.settings().keep {
            _ if end == RunEnd::Stopped => true,
            Keep::Never => false,
            Keep::OnFailure => end != RunEnd::Finished,
            Keep::Always => true,
        };
        if keeps || !self.is_claimed() {
            return Ok(());
        }
        let cleared = self.clear(&self.own_directory());
        if self.is_child() {
            return cleared;
        }
        // What did not land would be lost with its branch.
        let archives = end != RunEnd::Finished || !*self.has_landed();
        let deleted = self.delete_branches(archives);
        // It goes if there is nothing of other runs in it.
        let _ = fs::remove_dir(&self.settings().directory);
        cleared.and(deleted)
    }

    /// Deletes the branches of the run and its children.
    fn delete_branches(&self, archives: bool) -> Result<(), GitWorkspacesError> {
        let (repository, prefix) = (&self.settings().repository, self.tree_prefix());
        let landed_on = match self.target() {
            Ok(target) => repository.branch_head(&target)?,
            Err(_) => None,
        };
        let mut result = Ok(());
        for (branch, head) in
            repository.branches()?.into_iter().filter(|(branch, _)| branch.as_str().starts_with(&prefix))
        {
            let has_landed = match landed_on {
                Some(landed_on) => repository.is_ancestor(head, landed_on)?,
                None => false,
            };
            result = result.and(match archives && !has_landed {
                true => self.set_aside(&branch, head),
                false => repository.delete_branch(&branch, head).map_err(Into::into),
            });
        }
        result
    }
}
