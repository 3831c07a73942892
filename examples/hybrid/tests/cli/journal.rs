//! What the other commands show of a run.

use crate::artefacts::target_directory;
use crate::program::{Ran, git, hybrid, without_builds};
use serde_json::Value;
use std::fs;

/// A run can be examined when it is over. The directory in which it was started stays clean: the journal is there, and git
/// ignores it.
#[test]
fn a_run_is_told_by_its_journal() {
    let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    git(place.path(), &["init", "--quiet"]);
    let call = |arguments: &[&str]| {
        let mut command = hybrid(arguments);
        Ran::of(command.env_remove("INTERLOCKING_JOURNAL").current_dir(&place).output().unwrap())
    };
    let (target, task) = (target_directory(), without_builds(elsewhere.path()));
    let target = target.to_str().unwrap();
    let ran = call(&["run", "--run-id", "r1", "--json", "--spec", &task, "--target-dir", target]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let told = ran.json();
    assert_eq!((&told["outcome"], &told["result"]["success"]), (&"finished".into(), &true.into()));
    assert_eq!(told["visits"]["merge"], 1);
    assert_eq!(git(place.path(), &["status", "--porcelain"]), "");
    let left: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(!place.path().join(".interlocking/hybrid").exists(), "nothing is left of the run but its journal");

    let shown = call(&["show", "r1"]);
    assert!(shown.stdout.contains("├ blind_fork.1 "), "{}", shown.stdout);
    assert!(shown.stdout.contains("committed "), "{}", shown.stdout);
    assert_eq!(call(&["show", "r1", "--json"]).json()["total"]["cost"], 145_000);
    let listed = call(&["list", "--json"]).json();
    assert_eq!((&listed[0]["run"], &listed[0]["state"]), (&Value::from("r1"), &Value::from("finished")));

    let taken = call(&["run", "--run-id", "r1"]);
    assert_eq!((taken.exit, taken.stdout.as_str()), (Some(2), ""), "{}", taken.stderr);
    assert!(taken.stderr.starts_with("error: there is a run `r1` in the journal\n"), "{}", taken.stderr);
    let resumed = call(&["resume", "r1"]);
    assert_eq!((resumed.exit, resumed.stdout.as_str()), (Some(2), ""), "{}", resumed.stderr);
    assert!(resumed.stderr.starts_with("error: `r1` cannot be resumed: "), "{}", resumed.stderr);
}
