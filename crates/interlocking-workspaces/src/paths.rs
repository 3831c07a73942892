//! Where a run's workspaces lie.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{ArchiveName, BranchName, CommitId, NameError};
use std::path::PathBuf;

/// What the directory of fresh checkouts is called, in that of a run.
pub(crate) const CHECKOUTS: &str = ".checkouts";

/// What the directory of worktrees that are to be used again is called there.
const RETIRED: &str = ".retired";

impl GitRun {
    /// The directory of the run with all its children.
    pub(crate) fn tree_directory(&self) -> PathBuf {
        self.settings().directory.join(self.0.names.root.as_str())
    }

    /// The directory of this run's workspaces.
    pub(crate) fn own_directory(&self) -> PathBuf {
        match self.is_child() {
            true => self.tree_directory().join(&self.0.names.label),
            false => self.tree_directory(),
        }
    }

    /// Where the fresh checkouts of the run and its children lie. No workspace lies there: no part of a branch's name begins with a dot.
    pub(crate) fn checkouts_directory(&self) -> PathBuf {
        self.tree_directory().join(CHECKOUTS)
    }

    /// Where worktrees lie that are to be used again.
    pub(crate) fn retired_directory(&self) -> PathBuf {
        self.tree_directory().join(RETIRED)
    }

    /// Where a workspace lies.
    pub(crate) fn directory_of(&self, name: &str) -> Result<PathBuf, NameError> {
        self.0.names.own_branch(name).map(|_| self.own_directory().join(name))
    }

    /// What the branch of a workspace is called.
    pub(crate) fn branch_name(&self, name: &str) -> Result<BranchName, NameError> {
        self.0.names.branch(self.settings(), name)
    }

    /// What the branches of the run with all its children begin with, but for those that the settings name.
    pub(crate) fn tree_prefix(&self) -> String {
        format!("{}/", self.0.names.root)
    }

    /// Under what name a head of that branch is kept: one a head, however many rounds there are. Where the branch's own has no room for
    /// what tells heads apart, it is the head's alone.
    pub(crate) fn archive_name(&self, branch: &BranchName, head: CommitId) -> Result<ArchiveName, GitWorkspacesError> {
        let prefix = self.tree_prefix();
        let prefix = if branch.as_str().starts_with(&prefix) { "" } else { &prefix };
        let named = ArchiveName::new(format!("{prefix}{branch}-{}", head.short()));
        Ok(named.or_else(|_| ArchiveName::new(format!("{}{head}", self.tree_prefix())))?)
    }
}
