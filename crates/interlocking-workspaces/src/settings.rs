//! The settings of workspaces on git, which are the same for every run.

use crate::active_runs::ActiveRuns;
use interlocking_core::run_id::RunId;
use interlocking_sandbox::Sandbox;
use interlocking_worktree::{BranchName, CommitId, Keep, Repository, RepositoryPath, Setup, Signature};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The commit at which a workspace begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The target branch's head when the run began; for a child run, the commit that the workspace of its map node is
    /// at.
    #[default]
    Run,
    /// The commit that this other workspace of the run is at when the workspace is made. A read-only workspace follows
    /// the other one.
    Workspace(String),
    /// This branch's head when the workspace is first made.
    Branch(BranchName),
    /// This commit.
    Commit(CommitId),
}

#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) repository: Repository,
    pub(crate) directory: PathBuf,
    pub(crate) author: Option<Signature>,
    pub(crate) target: Option<BranchName>,
    pub(crate) landing: Option<BranchName>,
    pub(crate) bases: BTreeMap<String, Base>,
    pub(crate) keep: Keep,
    pub(crate) keeps_children: bool,
    pub(crate) reuses_worktrees: bool,
    pub(crate) setup: Option<Setup>,
    pub(crate) copied_files: Vec<RepositoryPath>,
    pub(crate) grants: Option<Grants>,
    pub(crate) landing_timeout: Duration,
    pub(crate) reserved: Vec<PathBuf>,
    pub(crate) branch_names: Option<BranchNames>,
    pub(crate) active_runs: Arc<ActiveRuns>,
}

/// A workspace that is asked for the name of its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceScope<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The key of its item, if it is a child run.
    pub key: Option<&'a str>,
    /// The workspace's name.
    pub workspace: &'a str,
}

/// Returns the name of a workspace's branch, if it differs from the default.
type BranchNames = Arc<dyn Fn(&WorkspaceScope<'_>) -> Option<BranchName> + Send + Sync>;

/// Adds what agents may reach to the sandbox of the workspace with this name.
type Grants = Arc<dyn Fn(&str, Sandbox) -> Sandbox + Send + Sync>;
