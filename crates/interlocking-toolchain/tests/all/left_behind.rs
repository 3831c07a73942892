//! What a command leaves in the directories that it can write to, and their deletion.

use interlocking_toolchain::{Checkout, CommandLine, Harness, KnownTests, Runner, TestRun, Toolchain};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::ffi::OsString;
use std::fs;
use std::thread;

const KNOWN: KnownTests<'_> = KnownTests { names: &[], test_path: "tests/p.rs", implementation_path: None };

/// What is there after a test command of which only the exit code counts: the checkout `1`, and what is beside it.
async fn left_after(script: &str) -> Vec<OsString> {
    let place = tempfile::tempdir().unwrap();
    let (checkouts, target) = (place.path().join("checkouts"), place.path().join("target"));
    fs::create_dir_all(checkouts.join("1")).unwrap();
    let test_command = CommandLine::new("sh", &["-c", script]);
    let toolchain = Toolchain { test_command, harness: Harness::ExitCode, ..Toolchain::default() };
    let runner = Runner::new(toolchain, &target, &checkouts).unwrap();
    let run = runner.test(&Checkout::at(checkouts.join("1")), KNOWN).await.unwrap();
    let TestRun::Ran(outcome) = run else { panic!("{run:?}") };
    assert!(outcome.all_passed(), "{outcome:?}");
    assert!(!target.exists(), "nothing is there that outlasts the checkouts");
    fs::read_dir(checkouts).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

/// A process that is killed deletes nothing, and what is beside a checkout is deleted with it when the run goes on.
#[tokio::test]
async fn what_a_command_can_write_is_beside_its_checkout() {
    let script = r#"
        beside=$(dirname "$PWD")
        [ "$(dirname "$TMPDIR")" = "$beside" ] && [ "$(dirname "$CARGO_TARGET_DIR")" = "$beside" ]"#;
    assert_eq!(left_after(script).await, ["1"]);
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
    assert_eq!(left_after(script).await, ["1"]);
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
    assert_eq!(left, ["1"]);
}
