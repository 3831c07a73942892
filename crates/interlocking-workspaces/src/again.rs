//! Finding a run's workspaces again, in a process that takes the run up.
//!
//! Nothing that the process before had in its memory is needed: where a workspace lies and what its branch is called follows from the
//! run's name, and the journal has the commit that it is to stand at. What is there and does not fit was left by a node that was cut
//! off, or by a process that was killed while it made or removed it; it is put right, or made anew when a node needs it.
//!
//! **Invariant:** this is done by the one executor of the run, as only it may: git's locks are taken for leftovers.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::settings::Base;
use interlocking_worktree::{CommitId, Worktree};

impl GitRun {
    /// Notes what a workspace was made at.
    pub(crate) fn has_begun(&self, name: &str, base: CommitId) {
        self.note(name, |place| place.base = Some(base));
        if matches!(self.base_setting(name), Base::Run) {
            self.begins_at(base);
        }
    }

    /// Finds a workspace again that is to stand at `commit`, with what is not committed there, unless that is of a node which was
    /// `interrupted`. Git work.
    pub(crate) fn find_again(&self, name: &str, commit: CommitId, interrupted: bool) -> Result<(), GitWorkspacesError> {
        // That it is a commit, before anything is undone for it.
        let repository = &self.settings().repository;
        repository.commit(commit).map_err(|error| GitWorkspacesError::CommitGone {
            name: name.to_owned(),
            commit,
            repository: repository.common_directory().to_owned(),
            reason: error.cause().to_owned(),
        })?;
        self.note(name, |place| place.stand_at(commit));
        self.lives()?;
        let Some(worktree) = self.whole(name)? else { return Ok(()) };
        // A handler of a node that works elsewhere may have been interrupted at something here, too.
        let is_free = worktree.unlock().is_ok();
        let stands = !interrupted && worktree.head().ok() == Some(commit);
        let is_put_back = is_free && (stands || self.make_as_new(name, &worktree, commit).is_ok());
        if !is_put_back {
            // Led astray, or not made ready; all that counts is in the commit.
            return self.clear(&self.directory_of(name)?);
        }
        self.note(name, |place| place.worktree = Some(worktree));
        Ok(())
    }

    /// The worktree or clone, if it is there, whole, and on its own branch.
    fn whole(&self, name: &str) -> Result<Option<Worktree>, GitWorkspacesError> {
        let (directory, branch, repository) =
            (self.directory_of(name)?, self.branch_name(name)?, &self.settings().repository);
        if self.is_clone(name) {
            return Ok(repository.open_clone(&directory, &branch).ok());
        }
        let Ok(worktree) = repository.open_worktree(&directory) else { return Ok(None) };
        let is_on_its_own = worktree.branch() == Some(&branch).filter(|_| !self.wanted(name).is_read_only);
        // One that was being made is locked.
        let is_whole = repository
            .worktrees_in(&directory)?
            .iter()
            .any(|entry| Some(entry.name.as_str()) == worktree.name() && !entry.is_missing && entry.locked.is_none());
        Ok(Some(worktree).filter(|_| is_on_its_own && is_whole))
    }
}
