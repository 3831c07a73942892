//! A run on a git repository: the workspaces of its nodes, and the names of its branches.

use crate::graph::ScoutAndWave;
use crate::protocol::agent::Post;
use crate::workbench::Workbench;
use interlocking::prelude::*;
use interlocking::workspaces::WorkspaceScope;
use interlocking::worktree::BranchName;
use std::sync::Arc;

/// The workspaces of a run. The branch of an agent is named after its wave and its letter (CON-112). Its worktree stays until its
/// wave is merged (SAW-27), with its uncommitted changes (CON-110); the worktrees of the next wave are made from it. The
/// workspaces are the same in every process.
#[must_use]
pub fn workspaces(workspaces: GitWorkspaces) -> GitWorkspaces {
    let workspaces = workspaces.with_children_kept().with_worktrees_reused();
    workspaces.with_branch_names(|scope: &WorkspaceScope<'_>| match scope.key {
        Some(key) if scope.workspace == "tree" => BranchName::new(Post::label_of(key)).ok(),
        _ => None,
    })
}

/// The graph with its handlers, ready to run.
pub fn run(workbench: Workbench) -> Run<ScoutAndWave> {
    Run::new(ScoutAndWave::new(&Arc::new(workbench)))
}
