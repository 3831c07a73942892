//! Where a run's workspaces lie, and what their branches are called: all that another process needs to find them.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_runtime::workspaces::RunScope;
use interlocking_worktree::{ArchiveName, BranchName, CommitId, NameError};
use std::path::PathBuf;

/// What the directory of fresh checkouts is called, in that of a run.
pub(crate) const CHECKOUTS: &str = ".checkouts";

impl GitRun {
    /// The directory of the run with all its children.
    pub(crate) fn tree_directory(&self) -> PathBuf {
        self.settings().directory.join(self.0.root.as_str())
    }

    /// The directory of this run's workspaces.
    pub(crate) fn own_directory(&self) -> PathBuf {
        match self.is_child() {
            true => self.tree_directory().join(&self.0.label),
            false => self.tree_directory(),
        }
    }

    /// Where the fresh checkouts of the run and its children lie. No workspace lies there: no part of a branch's name begins with a dot.
    pub(crate) fn checkouts_directory(&self) -> PathBuf {
        self.tree_directory().join(CHECKOUTS)
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
            true => format!("{}/{}/", self.0.root, self.0.label),
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

/// What a run is called in names of directories and branches: a child by its item's key, if that is a short word, with the end of its
/// run's name, which is no other's.
pub(crate) fn label(scope: &RunScope<'_>) -> String {
    let run = scope.run.as_str();
    let is_safe = |character: char| character.is_ascii_alphanumeric() || character == '-' || character == '_';
    match (&scope.parent, run.rsplit_once('-')) {
        (Some(parent), Some((_, end)))
            if end.len() == 16
                && (1..=40).contains(&parent.key.len())
                && parent.key.chars().all(is_safe)
                && !parent.key.starts_with('-') =>
        {
            format!("{}-{end}", parent.key)
        }
        _ => run.to_owned(),
    }
}
