//! A test that every route of the table is taken, with the real site: git, the removal of logs, the project's check.

use crate::graph::{Debugging, Walkthrough, debugging};
use crate::site::Site;
use interlocking::envoy::Library;
use interlocking::prelude::*;
use interlocking::runtime::workspaces::Directories;
use interlocking_testing::{Enumerator, Trial};
use std::sync::Arc;

/// A fix that holds with and without logs.
const MENDED: &str =
    "#!/bin/sh\nheight=$((120 - 40 * $1))\n[ \"$1\" -le 6 ] || height=$((40 * $1 - 360))\necho \"$height\"\n";

#[test]
fn every_route_is_taken() {
    let walkthrough = |said: &str| Walkthrough { walkthrough: said.to_owned() };
    let enumerator = Enumerator::new(|_| {
        let place = tempfile::tempdir().unwrap();
        let site = Site::create(place.path()).unwrap();
        let workspaces = Arc::new(Directories::new().with("worktree", site.worktree.path()));
        let graph = Debugging::new(&Library::embedded(), &site).unwrap();
        Trial::new(Run::new(graph).with_workspaces(workspaces), crate::bug()).keeping(place)
    });
    let report = enumerator
        .with_generated(2)
        .with_sample::<debugging::fix>(&walkthrough("nothing is done"))
        .with_sample_doing::<debugging::fix>(&walkthrough("it is mended"), |worktree| {
            std::fs::write(worktree.join("tide.sh"), MENDED)
        })
        .explore();
    report.assert_all_routes();
    expect_test::expect![[r#"
        Debugging: 5 of 5 routes were taken in 2 runs

        taken: investigate → fix run 1, no choices
        taken: fix → clean_up    run 1, no choices
        taken: clean_up → merge  run 2, fix.1.1=sample-2
        taken: clean_up → fix    run 1, no choices
        taken: merge → exit      run 2, fix.1.1=sample-2
        bound exceeded, so that the run failed: fix
    "#]]
    .assert_eq(&report.to_string());
}
