//! The program: it waits for a person, another process goes on, and the result says what came of it.

use crate::project::git;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn program(place: &Path, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_scout-and-wave"));
    let Output { status, stdout, stderr } = program.args(arguments).current_dir(place).output().unwrap();
    let stdout = String::from_utf8(stdout).unwrap();
    let said = if stdout.is_empty() { Value::Null } else { serde_json::from_str(&stdout).unwrap() };
    (status.code(), said, String::from_utf8(stderr).unwrap())
}

/// SAW-22: without a person's word nobody is launched, in whatever process; and one that declines ends the run.
#[test]
fn the_program_waits_for_a_person() {
    let place = tempfile::tempdir().unwrap();
    let work = place.path().join("work");
    let run = ["run", "--run-id", "r1", "--keep", "--accept-weaker-isolation", "--work-dir", work.to_str().unwrap()];
    let (exit, _, said) = program(place.path(), &run);
    assert_eq!(exit, Some(3), "{said}");
    assert!(
        said.contains("`scout-and-wave answer r1 JSON` answers, then `scout-and-wave resume r1` takes it up"),
        "{said}"
    );
    let repository = work.join("r1/repository");
    assert_eq!(git(&repository, &["log", "--format=%s", "main"]), "docs: plan Text statistics\nA crate to build on\n");

    let (exit, _, said) = program(place.path(), &["resume", "r1", "--accept-weaker-isolation"]);
    assert_eq!(exit, Some(3), "{said}");
    let (exit, _, said) = program(place.path(), &["answer", "r1", r#"{"decline": {"reason": "not now"}}"#]);
    assert_eq!(exit, Some(0), "{said}");
    let (exit, account, said) = program(place.path(), &["resume", "r1", "--accept-weaker-isolation"]);
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(account["result"], serde_json::json!({"state": "DECLINED", "reason": "not now"}));
    // The plan has landed, and nothing else.
    let commits: Vec<_> =
        account["commits"].as_array().unwrap().iter().map(|commit| commit["subject"].as_str().unwrap()).collect();
    assert_eq!(commits, ["docs: plan Text statistics"]);
    assert!(!git(&repository, &["for-each-ref"]).contains("wave"));
}
