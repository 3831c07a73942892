//! A run on a git repository: where its nodes work, and what its branches are called.

use crate::graph::ScoutAndWave;
use crate::protocol::agent::Post;
use crate::workbench::Workbench;
use interlocking::prelude::*;
use interlocking::workspaces::WorkspaceScope;
use interlocking::worktree::BranchName;
use std::sync::Arc;

/// The workspaces of a run: the branch of an agent is called after its wave and its letter (CON-112), and its worktree stays until its wave is
/// merged (SAW-27), with what it did not commit (CON-110). Those of the next wave are made from it. They are the same in every process.
#[must_use]
pub fn workspaces(workspaces: GitWorkspaces) -> GitWorkspaces {
    let workspaces = workspaces.with_children_kept().with_worktrees_reused();
    workspaces.with_branch_names(|scope: &WorkspaceScope<'_>| match scope.key {
        Some(key) if scope.workspace == "tree" => BranchName::new(Post::label_of(key)).ok(),
        _ => None,
    })
}

/// The graph, made ready.
pub fn run(workbench: Workbench) -> Run<ScoutAndWave> {
    Run::new(ScoutAndWave::new(&Arc::new(workbench)))
}
