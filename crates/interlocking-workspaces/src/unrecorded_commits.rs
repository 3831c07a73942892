//! Commits that the journal does not have: agents and people have made them, or a handler that was interrupted.
//!
//! **Invariant:** what is above the recorded commit is archived before a workspace is put back or a clone is deleted
//! (CON-153), unless a branch of the tree still has it, or it has landed.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{BranchName, CommitId, OpenCloneError, Worktree};
use std::fs;
use std::iter::once;
use std::path::{Path, PathBuf};

impl GitRun {
    /// The head of a worktree or clone. A clone's commits are imported, but into no branch. Git work.
    pub(crate) fn head_in(&self, worktree: &Worktree) -> Result<CommitId, GitWorkspacesError> {
        let (repository, head) = (&self.settings().repository, worktree.head()?);
        if !worktree.is_clone() || repository.commit(head).is_ok() {
            return Ok(head);
        }
        Ok(repository.import_objects(&worktree.export_since(began_at(worktree, head))?)?)
    }

    /// Whether nothing is above the recorded commit, or only commits that the run has not made. Git work.
    pub(crate) fn has_only_others_above(
        &self,
        name: &str,
        recorded: CommitId,
        worktree: &Worktree,
    ) -> Result<bool, GitWorkspacesError> {
        if worktree.head()? == recorded {
            return Ok(true);
        }
        let (repository, own, mut at) = (&self.settings().repository, self.author()?, self.head_in(worktree)?);
        if self.wanted(name).is_read_only || !repository.is_ancestor(recorded, at)? {
            return Ok(false);
        }
        while at != recorded {
            let commit = repository.commit(at)?;
            let is_own = commit.committer.name == own.name() && commit.committer.email == own.email();
            let Some(parent) = commit.parents.first().filter(|_| !is_own) else { return Ok(false) };
            at = *parent;
        }
        Ok(true)
    }

    /// Archives what is above the recorded commit, before the workspace is put back. Git work.
    pub(crate) fn archive_above(
        &self,
        name: &str,
        recorded: CommitId,
        worktree: &Worktree,
    ) -> Result<(), GitWorkspacesError> {
        if self.wanted(name).is_read_only {
            return Ok(());
        }
        let (repository, head) = (&self.settings().repository, self.head_in(worktree)?);
        if let Err(error) = repository.commit(head) {
            // The branch was made to point at nothing, or its commit was lost with the power.
            tracing::warn!(%error, directory = %worktree.path().display(), "a workspace's commit cannot be kept");
            return Ok(());
        }
        match repository.is_ancestor(head, recorded)? {
            true => Ok(()),
            false => self.archive_unless_kept(&self.branch_name(name)?, worktree, head),
        }
    }

    /// Archives what was made in the clones at or directly below a directory, before it is deleted. Git work.
    pub(crate) fn archive_clones_in(&self, directory: &Path) {
        let is_directory = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        let below = match directory.join(".git").exists() {
            // It is a workspace, and what an agent has in it is none.
            true => Vec::new(),
            false => fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect(),
        };
        for path in once(directory.to_owned()).chain(below).filter(is_directory) {
            let Some(branch) = self.branch_at(&path) else { continue };
            let archived = match self.settings().repository.open_clone(&path, &branch) {
                Err(OpenCloneError::NotAClone { .. }) => continue,
                clone => clone.map_err(Into::into).and_then(|clone| self.archive_clone(&branch, &clone)),
            };
            if let Err(error) = archived {
                tracing::warn!(%error, directory = %path.display(), "what was made in a clone cannot be kept");
            }
        }
    }

    fn archive_clone(&self, branch: &BranchName, clone: &Worktree) -> Result<(), GitWorkspacesError> {
        let head = clone.head()?;
        // A first commit that was amended has no parent either, and is in the clone alone.
        match began_at(clone, head) == head && self.settings().repository.commit(head).is_ok() {
            true => Ok(()),
            false => self.archive_unless_kept(branch, clone, self.head_in(clone)?),
        }
    }

    /// Archives the head of a workspace that is about to be reset or deleted. A clone's branch in the repository stays.
    fn archive_unless_kept(
        &self,
        branch: &BranchName,
        worktree: &Worktree,
        head: CommitId,
    ) -> Result<(), GitWorkspacesError> {
        let repository = &self.settings().repository;
        // If they cannot be read, more is archived than is needed.
        let branches = self.branches().unwrap_or_default().into_iter();
        let staying = branches.filter(|(other, _)| worktree.is_clone() || other != branch).map(|(_, at)| at);
        if !staying.chain(self.landed_on()).any(|at| matches!(repository.is_ancestor(head, at), Ok(true))) {
            repository.archive(&self.archive_name(branch, head)?, head)?;
        }
        Ok(())
    }

    /// The branch of the workspace in a directory of the run; none if there can be no workspace.
    fn branch_at(&self, path: &Path) -> Option<BranchName> {
        let place = path.strip_prefix(self.tree_directory()).ok()?.to_str()?;
        let named = self.named_branch_of(place).ok()?;
        named.or_else(|| BranchName::new(format!("{}{place}", self.tree_prefix())).ok())
    }
}

/// The commit that a clone began at: the last one that it has.
fn began_at(clone: &Worktree, head: CommitId) -> CommitId {
    let (of_clone, mut at) = (clone.repository(), head);
    while let Ok(commit) = of_clone.commit(at)
        && let Some(parent) = commit.parents.first().filter(|parent| of_clone.commit(**parent).is_ok())
    {
        at = *parent;
    }
    at
}
