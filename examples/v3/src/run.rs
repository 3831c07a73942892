//! A run on a git repository.

use crate::graph::V3;
use crate::handlers::places::{BASE, IMPL, SKELETON, TESTS};
use crate::workbench::Workbench;
use interlocking::prelude::*;
use interlocking::workspaces::Base;
use std::sync::Arc;

/// The workspaces of a run, and of all runs below it. They are the same in every process. Worktrees of a node that has ended are
/// reused, because a tree makes many.
#[must_use]
pub fn workspaces(workspaces: GitWorkspaces) -> GitWorkspaces {
    // These workspaces begin where the work is, and are moved to the right commit before they are used.
    let on_work = || Base::Workspace(IMPL.to_owned());
    let places = [TESTS, SKELETON, BASE];
    places
        .into_iter()
        .fold(workspaces.with_worktrees_reused(), |workspaces, place| workspaces.with_base(place, on_work()))
}

/// The graph with its handlers, ready to run.
pub fn run(workbench: Workbench) -> Run<V3> {
    Run::new(V3::new(&Arc::new(workbench)))
}
