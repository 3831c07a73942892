//! Reopening a run's workspaces in a process that resumes the run.
//!
//! Nothing from the previous process's memory is needed: the path and the branch of a workspace follow from the run's
//! name, and the journal has the commit that it must be at. A workspace that does not match was left by an interrupted
//! node, or by a process that was killed while it made, prepared or removed the workspace. It is repaired, or removed and
//! made again when a node needs it.
//!
//! **Invariant:** only the run's executor does this, and there is only one: git's locks in the workspaces count as
//! leftovers.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::settings::Base;
use interlocking_worktree::{CommitId, Worktree};

impl GitRun {
    /// Notes the commit that a workspace began at.
    pub(crate) fn note_base(&self, name: &str, base: CommitId) {
        self.note(name, |place| place.base = Some(base));
        if matches!(self.base_setting(name), Base::Run) {
            self.note_start(base);
        }
    }

    /// Reopens a workspace that must be at `commit`. Uncommitted changes stay, and commits on top that the run has not
    /// made itself, unless its node was `interrupted` or the workspace was being prepared. Commits that do not stay are
    /// archived. Git work.
    pub(crate) fn reopen(&self, name: &str, commit: CommitId, interrupted: bool) -> Result<(), GitWorkspacesError> {
        // Check that the commit exists before anything is undone.
        let repository = &self.settings().repository;
        repository.commit(commit).map_err(|error| GitWorkspacesError::CommitGone {
            name: name.to_owned(),
            commit,
            repository: repository.common_directory().to_owned(),
            reason: error.cause().to_owned(),
        })?;
        self.note(name, |place| place.set_current(commit));
        self.mark_active()?;
        let Some(worktree) = self.open_whole(name)? else { return Ok(()) };
        // A handler of a node that works elsewhere may have been interrupted in this workspace, too.
        let warn = |error: &dyn std::fmt::Display| {
            let directory = worktree.path().display();
            tracing::warn!(%error, %directory, "a workspace cannot be put back, and is made again when a node needs it");
        };
        let is_free = worktree.unlock().inspect_err(|error| warn(error)).is_ok();
        let was_prepared = !self.is_being_prepared(name);
        let stands = !interrupted
            && was_prepared
            && self.has_only_others_above(name, commit, &worktree).inspect_err(|error| warn(error)).unwrap_or(false);
        let put_back = || {
            self.archive_above(name, commit, &worktree)?;
            self.reset_and_prepare(name, &worktree, commit)
        };
        let is_put_back = is_free && (stands || put_back().inspect_err(|error| warn(error)).is_ok());
        if !is_put_back {
            // An agent tampered with it, or its setup failed. Everything that matters is in the commit or the archive.
            return self.clear(&self.directory_of(name)?);
        }
        self.note(name, |place| place.worktree = Some(worktree));
        Ok(())
    }

    /// Opens the worktree or clone, if it exists, is complete, and is on its own branch.
    fn open_whole(&self, name: &str) -> Result<Option<Worktree>, GitWorkspacesError> {
        let (directory, branch, repository) =
            (self.directory_of(name)?, self.branch_name(name)?, &self.settings().repository);
        let warn = |error: &dyn std::fmt::Display| {
            // Otherwise there is nothing to open.
            if directory.exists() {
                let directory = directory.display();
                tracing::warn!(%error, %directory, "a workspace cannot be opened, and is made again when a node needs it");
            }
        };
        if self.is_clone(name) {
            return Ok(repository.open_clone(&directory, &branch).inspect_err(|error| warn(error)).ok());
        }
        let opened = repository.open_worktree(&directory).inspect_err(|error| warn(error));
        let Ok(worktree) = opened else { return Ok(None) };
        let is_on_its_own = worktree.branch() == Some(&branch).filter(|_| !self.wanted(name).is_read_only);
        // A worktree that was being made is locked.
        let is_whole = repository
            .worktrees_in(&directory)?
            .iter()
            .any(|entry| Some(entry.name.as_str()) == worktree.name() && !entry.is_missing && entry.locked.is_none());
        Ok(Some(worktree).filter(|_| is_on_its_own && is_whole))
    }
}
