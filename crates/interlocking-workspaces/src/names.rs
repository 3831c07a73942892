//! Where a run's workspaces lie, and what their branches are called: all that another process needs to find them.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{ArchiveName, BranchName, CommitId, NameError};
use std::path::PathBuf;

impl GitRun {
    /// The directory of the run with all its children.
    pub(crate) fn tree_directory(&self) -> PathBuf {
        self.settings().directory.join(self.0.root.as_str())
    }

    /// The directory of this run's workspaces.
    pub(crate) fn own_directory(&self) -> PathBuf {
        match self.is_child() {
            true => self.tree_directory().join(self.0.run.as_str()),
            false => self.tree_directory(),
        }
    }

    /// Where a workspace lies.
    pub(crate) fn directory_of(&self, name: &str) -> Result<PathBuf, NameError> {
        // A branch's name is a safe path, too.
        self.branch_name(name).map(|_| self.own_directory().join(name))
    }

    /// What the branch of a workspace is called.
    pub(crate) fn branch_name(&self, name: &str) -> Result<BranchName, NameError> {
        if name.contains('/') {
            let (name, what, reason) = (name.to_owned(), "workspace", interlocking_worktree::NameRule::Slashes);
            return Err(NameError { name, what, reason });
        }
        BranchName::new(format!("{}{name}", self.branch_prefix()))
    }

    /// What the branches of this run begin with.
    fn branch_prefix(&self) -> String {
        match self.is_child() {
            true => format!("{}/{}/", self.0.root, self.0.run),
            false => self.tree_prefix(),
        }
    }

    /// What the branches of the run with all its children begin with.
    pub(crate) fn tree_prefix(&self) -> String {
        format!("{}/", self.0.root)
    }

    /// Under what name a head of that branch is kept: one a head, however many rounds there are.
    pub(crate) fn archive_name(branch: &BranchName, head: CommitId) -> Result<ArchiveName, GitWorkspacesError> {
        Ok(ArchiveName::new(format!("{branch}-{}", head.short()))?)
    }
}
