//! What a command leaves in the directories that it can write to, and their deletion.

use interlocking_toolchain::{Checkout, CommandLine, Harness, KnownTests, Runner, TestRun, Toolchain};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::thread;

const KNOWN: KnownTests<'_> = KnownTests { names: &[], test_path: "tests/p.rs", implementation_path: None };

/// What is there after a test command of which only the exit code counts: beside the checkout `1`, and among the artefacts.
async fn left_after(script: &str) -> (Vec<OsString>, Vec<OsString>) {
    let place = tempfile::tempdir().unwrap();
    let (checkouts, target) = (place.path().join("checkouts"), place.path().join("target"));
    fs::create_dir_all(checkouts.join("1")).unwrap();
    let test_command = CommandLine::new("sh", &["-c", script]);
    let toolchain = Toolchain { test_command, harness: Harness::ExitCode, ..Toolchain::default() };
    let runner = Runner::new(toolchain, &target, &checkouts).unwrap();
    let run = runner.test(&Checkout::at(checkouts.join("1")), KNOWN).await.unwrap();
    let TestRun::Ran(outcome) = run else { panic!("{run:?}") };
    assert!(outcome.all_passed(), "{outcome:?}");
    let names = |directory: &Path| fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    (names(&checkouts), names(&target.join("verdicts")))
}

fn only_the_checkout() -> (Vec<OsString>, Vec<OsString>) {
    (vec!["1".into()], Vec::new())
}

/// Nested deeper than the number of files that a process may have open, and than the longest path.
#[tokio::test(flavor = "multi_thread")]
async fn directories_within_each_other_are_deleted_however_many() {
    let files = getrlimit(Resource::Nofile);
    let usual = files.maximum.map_or(1024, |most| most.min(1024));
    setrlimit(Resource::Nofile, Rlimit { current: Some(usual), ..files }).unwrap();
    let script = r#"
        path=$(printf 'd/%.0s' $(seq 1000))
        for at in "$TMPDIR" "$CARGO_TARGET_DIR"; do
            cd "$at" && mkdir d || exit 1
            for thousand in 1 2 3; do
                mkdir -p "new/$path" && mv d "new/$path" && mv new d || exit 1
            done
        done"#;
    assert_eq!(left_after(script).await, only_the_checkout());
}

/// Root may open every directory, so this runs without root's rights.
#[test]
fn directories_that_nobody_may_open_are_deleted() {
    let none = CapabilitySet::empty();
    let script = r#"
        for at in "$TMPDIR" "$CARGO_TARGET_DIR"; do
            cd "$at" && mkdir -p closed/within && touch closed/within/file && chmod 0 closed/within closed . || exit 1
        done"#;
    let left = || {
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(left_after(script))
    };
    let left = thread::scope(|scope| scope.spawn(left).join()).unwrap();
    assert_eq!(left, only_the_checkout());
}
