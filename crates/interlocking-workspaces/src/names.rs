//! Where a run's workspaces lie, and what their branches are called: all that another process needs to find them.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::settings::{Settings, WorkspaceScope};
use interlocking_core::run_id::RunId;
use interlocking_runtime::workspaces::RunScope;
use interlocking_worktree::{ArchiveName, BranchName, CommitId, NameError, NameRule};
use std::path::PathBuf;

/// What the directory of fresh checkouts is called, in that of a run.
pub(crate) const CHECKOUTS: &str = ".checkouts";

/// What a run is called.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) run: RunId,
    /// The run that was started.
    pub(crate) root: RunId,
    /// What the run is called in names of directories and branches.
    pub(crate) label: String,
    /// The key of its item, if it is a child.
    pub(crate) key: Option<String>,
}

impl Names {
    pub(crate) fn of(scope: &RunScope<'_>, parent: Option<&Self>) -> Self {
        let root = parent.map_or(scope.run, |parent| &parent.root).clone();
        let key = scope.parent.map(|parent| parent.key.to_owned());
        Self { run: scope.run.clone(), root, label: label(scope), key }
    }

    /// Of a run of which nothing is known but its name.
    pub(crate) fn of_root(run: RunId) -> Self {
        Self { root: run.clone(), label: run.to_string(), run, key: None }
    }

    pub(crate) fn is_child(&self) -> bool {
        self.run != self.root
    }

    /// What the branch of a workspace is called.
    pub(crate) fn branch(&self, settings: &Settings, name: &str) -> Result<BranchName, NameError> {
        let own = self.own_branch(name)?;
        let scope = WorkspaceScope { run: &self.run, key: self.key.as_deref(), workspace: name };
        let named = settings.branch_names.as_ref().and_then(|names| names(&scope));
        Ok(named.unwrap_or(own))
    }

    /// What it is called where nobody says anything else. A branch's name is a safe path, too.
    fn own_branch(&self, name: &str) -> Result<BranchName, NameError> {
        if name.contains('/') {
            return Err(NameError { name: name.to_owned(), what: "workspace", reason: NameRule::Slashes });
        }
        BranchName::new(match self.is_child() {
            true => format!("{}/{}/{name}", self.root, self.label),
            false => format!("{}/{name}", self.root),
        })
    }

    /// What a workspace is called among all of the tree.
    pub(crate) fn place(&self, name: &str) -> String {
        match self.is_child() {
            true => format!("{}/{name}", self.label),
            false => name.to_owned(),
        }
    }
}

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

    /// Under what name a head of that branch is kept: one a head, however many rounds there are.
    pub(crate) fn archive_name(&self, branch: &BranchName, head: CommitId) -> Result<ArchiveName, GitWorkspacesError> {
        let prefix = self.tree_prefix();
        let prefix = if branch.as_str().starts_with(&prefix) { "" } else { &prefix };
        Ok(ArchiveName::new(format!("{prefix}{branch}-{}", head.short()))?)
    }
}

/// What a run is called in names of directories and branches: a child by its item's key, if that is a short word, with the end of its
/// run's name, which is no other's.
fn label(scope: &RunScope<'_>) -> String {
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
