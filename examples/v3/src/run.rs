//! A run on a git repository.

use crate::graph::V3;
use crate::handlers::places::{BASE, IMPL, SKELETON, TESTS};
use crate::workbench::Workbench;
use interlocking::prelude::*;
use interlocking::workspaces::Base;
use std::sync::Arc;

/// The workspaces of a run, and of all runs below it. They are the same in every process. Those of a node that has ended are used again by
/// the next: a tree makes many.
#[must_use]
pub fn workspaces(workspaces: GitWorkspaces) -> GitWorkspaces {
    // They begin where the work does, and are put where they belong before they are used.
    let on_work = || Base::Workspace(IMPL.to_owned());
    let places = [TESTS, SKELETON, BASE];
    places
        .into_iter()
        .fold(workspaces.with_worktrees_reused(), |workspaces, place| workspaces.with_base(place, on_work()))
}

/// The graph, made ready.
pub fn run(workbench: Workbench) -> Run<V3> {
    Run::new(V3::new(&Arc::new(workbench)))
}
