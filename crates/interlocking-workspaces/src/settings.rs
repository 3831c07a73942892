//! What workspaces on git are made of: the same for every run.

use crate::under_way::UnderWay;
use interlocking_core::run_id::RunId;
use interlocking_sandbox::Sandbox;
use interlocking_worktree::{BranchName, CommitId, Keep, Repository, RepositoryPath, Setup, Signature};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a workspace begins at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Where the target branch was when the run began; of a child run, where the workspace of its map node stands.
    #[default]
    Run,
    /// Where that workspace of the run stands when this one is made. One that may only be read follows it.
    Workspace(String),
    /// Where that branch is when the run begins.
    Branch(BranchName),
    /// That commit.
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
    pub(crate) patience: Duration,
    pub(crate) branch_names: Option<BranchNames>,
    pub(crate) under_way: Arc<UnderWay>,
}

/// A workspace whose branch is to have a name.
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

/// What a branch is called, if it is called otherwise.
type BranchNames = Arc<dyn Fn(&WorkspaceScope<'_>) -> Option<BranchName> + Send + Sync>;

/// Adds what agents may reach to the sandbox of a workspace of that name.
type Grants = Arc<dyn Fn(&str, Sandbox) -> Sandbox + Send + Sync>;
