//! Making a workspace when it is first needed.

use crate::error::GitWorkspacesError;
use crate::git_run::{GitRun, Wanted};
use crate::retired::NewHead;
use crate::settings::{Base, Settings};
use interlocking_worktree::{
    BranchName, CommitId, CreateError, Force, Repository, Worktree, WorktreeEntry, delete_directory,
};
use std::path::Path;

impl GitRun {
    /// Makes a workspace if it does not exist. Returns it and its base. Git work.
    pub(crate) fn make_ready(&self, name: &str) -> Result<(Worktree, CommitId), GitWorkspacesError> {
        let place = self.place(name);
        let base = self.base_of(name)?;
        let Some(worktree) = place.worktree else {
            let at = place.at.unwrap_or(base);
            let worktree = self.make(name, at)?;
            self.note(name, |place| {
                (place.base, place.worktree) = (Some(base), Some(worktree.clone()));
                place.set_current(at);
            });
            return Ok((worktree, base));
        };
        if let (true, Base::Workspace(other)) = (self.wanted(name).is_read_only, self.base_setting(name)) {
            let at = self.current_commit(other, &mut vec![name.to_owned()])?;
            if place.at != Some(at) {
                self.reset_and_prepare(name, &worktree, at)?;
            }
        }
        Ok((worktree, base))
    }

    /// The commit of a workspace that has no commits of its own, if it must be recorded in the journal.
    pub(crate) fn unrecorded(&self, name: &str) -> Option<CommitId> {
        let place = self.place(name);
        let follows = self.wanted(name).is_read_only && place.at.is_some();
        let is_recorded = matches!(self.base_setting(name), Base::Run | Base::Branch(_) | Base::Commit(_));
        place.at.filter(|_| !is_recorded && (follows || place.at == place.base))
    }

    /// Makes a workspace that does not exist, at `at`. Git work.
    fn make(&self, name: &str, at: CommitId) -> Result<Worktree, GitWorkspacesError> {
        let (directory, branch, repository) =
            (self.directory_of(name)?, self.branch_name(name)?, &self.settings().repository);
        self.claim()?;
        self.mark_active()?;
        self.begin_preparing(name)?;
        let Wanted { is_read_only, .. } = self.wanted(name);
        let mut head = repository.branch_head(&branch)?;
        // Leftovers of a process that was killed, or of a worktree that an agent tampered with.
        self.clear(&directory)?;
        if !is_read_only {
            head = self.take_branch(name, &branch, head)?;
        }
        let on = match head {
            _ if is_read_only => NewHead::NoBranch,
            Some(head) if head == at => NewHead::Existing(branch.clone()),
            Some(head) => {
                self.archive_and_delete(&branch, head)?;
                NewHead::New(branch.clone())
            }
            None => NewHead::New(branch.clone()),
        };
        let made = match self.is_clone(name) {
            true => repository.create_clone(&directory, &branch, at).map_err(Into::into),
            false => self.create_worktree(&directory, on, at),
        };
        if let Err(GitWorkspacesError::Create(CreateError::BranchExists { .. })) = made {
            // Another program created the branch in the meantime.
            self.leave_branch(&branch)?;
        }
        let worktree = made?;
        if let Err(error) = self.prepare(name, &worktree) {
            // A process of the setup may still be writing there. What stays is removed when the workspace is made again,
            // or at the end of the run.
            if let Err(error) = self.clear(&directory) {
                tracing::warn!(%error, directory = %directory.display(), "a workspace that is not ready cannot be removed");
            }
            return Err(error);
        }
        Ok(worktree)
    }

    /// Copies files to a worktree or clone that has only the files of a commit, and runs its setup. Then it is not being
    /// prepared any more. Git work.
    fn prepare(&self, name: &str, worktree: &Worktree) -> Result<(), GitWorkspacesError> {
        let Settings { repository, copied_files, setup, .. } = self.settings();
        repository.copy_ignored(worktree, copied_files)?;
        if let Some(setup) = setup {
            self.set_up(name, setup, worktree.path())?;
        }
        self.end_preparing(name)
    }

    /// Resets a worktree or clone to a commit and prepares it like a new one. If the preparation fails, the worktree or
    /// clone is removed, and made again when a node needs it. Git work.
    pub(crate) fn reset_and_prepare(
        &self,
        name: &str,
        worktree: &Worktree,
        at: CommitId,
    ) -> Result<(), GitWorkspacesError> {
        let was_prepared = self.begin_preparing(name)?;
        let reset = match worktree.reset_to(at) {
            // A process that was stopped during a commit has left git's locks behind. No other process works here.
            Err(_) if worktree.unlock().is_ok_and(|left| !left.is_empty()) => worktree.reset_to(at),
            reset => reset,
        };
        if let Err(error) = reset {
            if was_prepared && let Err(error) = self.end_preparing(name) {
                let directory = worktree.path().display();
                tracing::warn!(%error, %directory, "a workspace that cannot be reset counts as not ready");
            }
            return Err(error.into());
        }
        self.note(name, |place| place.set_current(at));
        let prepared = self.prepare(name, worktree);
        if prepared.is_err() {
            // As in `make`.
            if let Err(error) = self.retire(name) {
                let directory = worktree.path().display();
                tracing::warn!(%error, %directory, "a workspace that is not ready cannot be removed");
            }
        }
        prepared
    }

    /// Archives a branch's head and deletes the branch.
    pub(crate) fn archive_and_delete(&self, branch: &BranchName, head: CommitId) -> Result<(), GitWorkspacesError> {
        let repository = &self.settings().repository;
        repository.archive(&self.archive_name(branch, head)?, head)?;
        Ok(repository.delete_branch(branch, head)?)
    }

    /// Removes every worktree and clone at or below a directory. What was made in a clone and is nowhere else is
    /// archived. Git work.
    pub(crate) fn clear(&self, directory: &Path) -> Result<(), GitWorkspacesError> {
        if directory.is_dir() {
            self.archive_clones_in(directory);
            // A forged `.git` file can keep an entry from being removed: that is tried again once the files are gone.
            let _ = self.remove_worktrees(directory);
        }
        // The agent's links below it are deleted, and not what they lead to.
        delete_directory(directory)?;
        // Only entries are left. An entry that an agent has forged may name a path that led elsewhere until now.
        self.remove_worktrees(directory)
    }

    /// Removes every worktree at or below a directory from git's list. Git work.
    pub(crate) fn remove_worktrees(&self, directory: &Path) -> Result<(), GitWorkspacesError> {
        let repository = &self.settings().repository;
        let mut result = Ok(());
        for entry in repository.worktrees_in(directory)? {
            result = result.and(remove_listed(repository, &entry));
        }
        result
    }
}

fn remove_listed(repository: &Repository, entry: &WorktreeEntry) -> Result<(), GitWorkspacesError> {
    let worktree = repository.open_worktree(&entry.path)?;
    Ok(repository.remove_worktree(&worktree, Force::EvenIfLocked)?.delete()?)
}
