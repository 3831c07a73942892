//! The paths of a run's workspaces.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{ArchiveName, BranchName, CommitId, NameError};
use std::path::PathBuf;

/// The name of the directory of fresh checkouts, in a run's directory.
pub(crate) const CHECKOUTS: &str = ".checkouts";

/// The name of the directory of worktrees to reuse, in a run's directory.
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

    /// The directory of the fresh checkouts of the run and its children. No workspace has this path: no part of a
    /// branch's name begins with a dot.
    pub(crate) fn checkouts_directory(&self) -> PathBuf {
        self.tree_directory().join(CHECKOUTS)
    }

    /// The directory of worktrees to reuse.
    pub(crate) fn retired_directory(&self) -> PathBuf {
        self.tree_directory().join(RETIRED)
    }

    /// The directory of a workspace.
    pub(crate) fn directory_of(&self, name: &str) -> Result<PathBuf, NameError> {
        self.0.names.own_branch(name).map(|_| self.own_directory().join(name))
    }

    /// The name of a workspace's branch.
    pub(crate) fn branch_name(&self, name: &str) -> Result<BranchName, NameError> {
        self.0.names.branch(self.settings(), name)
    }

    /// The prefix of the branches of the run and all its children, except those that the settings name.
    pub(crate) fn tree_prefix(&self) -> String {
        format!("{}/", self.0.names.root)
    }

    /// The name under which a head of this branch is archived: one name per head, however many rounds there are. If the
    /// branch's name is too long for a suffix that distinguishes heads, the name consists of the run's name and the
    /// head's id.
    pub(crate) fn archive_name(&self, branch: &BranchName, head: CommitId) -> Result<ArchiveName, GitWorkspacesError> {
        let prefix = self.tree_prefix();
        let prefix = if branch.as_str().starts_with(&prefix) { "" } else { &prefix };
        let named = ArchiveName::new(format!("{prefix}{branch}-{}", head.short()));
        Ok(named.or_else(|_| ArchiveName::new(format!("{}{head}", self.tree_prefix())))?)
    }
}
