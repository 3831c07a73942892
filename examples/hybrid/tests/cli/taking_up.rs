//! A run goes on in another process, however the previous process has ended.

use crate::artefacts::target_directory;
use crate::program::{Ran, Repository, Session, git, without_mutants};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// How often each role was called, by the agents' own records: the prompts of each session.
fn asked(session: &Session) -> Vec<(String, usize)> {
    let memory = session.path().join("journal/hybrid/r1/agents.json");
    let memory: Value = serde_json::from_slice(&fs::read(memory).unwrap()).unwrap();
    let sessions = memory["stage"]["histories"].as_object().unwrap().iter();
    sessions.map(|(session, history)| (session.clone(), history.as_array().unwrap().len())).collect()
}

/// Killed three times: while agents work, while places are made, and while they are removed. Each process goes on at the end
/// of the journal, given only the run's name, and the result is that of an undisturbed run.
#[test]
fn a_run_that_is_killed_goes_on_in_another_process() {
    let work = tempfile::tempdir().unwrap();
    let at = work.path().to_str().unwrap();
    let session = Session::new();
    let target = target_directory();
    let task = without_mutants(session.path());
    let start = ["run", "--run-id", "r1", "--spec", &task, "--work-dir", at, "--keep"];
    let mut process = session.spawn(&[&start[..], &["--target-dir", target.to_str().unwrap()]].concat());
    let mut known = Vec::new();
    for node in ["types", "blind_fork", "merge"] {
        session.wait_until_done(&mut process, node, 1);
        process.kill();
        let stopped = session.show("r1");
        assert_eq!(stopped["state"], "stopped");
        let done = Session::done(&stopped);
        assert!(done.starts_with(&known), "{node}: {known:?} is kept in {done:?}");
        assert!(done.iter().any(|(name, ..)| name == node), "{done:?}");
        known = done;
        process = session.spawn(&["resume", "r1"]);
    }
    let ran = process.wait();
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let account = ran.json();
    assert_eq!((&account["success"], &account["interrupted"]), (&true.into(), &false.into()));
    assert_eq!(account["usage"]["cost"], 145_000, "no agent's answer that counts was paid for twice");

    // No node that had finished ran again.
    let shown = session.show("r1");
    let done = Session::done(&shown);
    assert!(done.starts_with(&known), "{known:?} is kept in {done:?}");
    assert_eq!((&shown["state"], &shown["resumed"]), (&"finished".into(), &3.into()));
    let mut nodes: Vec<&str> = done.iter().map(|(node, ..)| node.as_str()).collect();
    nodes.sort_unstable();
    nodes.retain(|node| *node != "mutation_advisory");
    let all = [
        "adversary",
        "blind",
        "blind_fork",
        "finish",
        "gate",
        "implementation",
        "merge",
        "post_validate",
        "skeleton",
        "tests",
        "types",
        "validate",
        "verify",
    ];
    assert_eq!(nodes, all);
    let directory = work.path().join("r1");
    let asked = asked(&session);
    assert!(asked.contains(&("types-1".to_owned(), 1)), "it was done before the first end: {asked:?}");

    // The landed files are what the agents wrote, completely, and the tests pass.
    let repository = directory.join("repository");
    assert_eq!(git(&repository, &["rev-parse", "main"]), account["target"]["after"].as_str().unwrap());
    assert_eq!(git(&repository, &["rev-list", "--count", "main"]), "6");
    assert_eq!(git(&repository, &["status", "--porcelain"]), "");
    git(&repository, &["fsck", "--strict"]);
    for (file, text) in [
        ("src/lib.rs", include_str!("../../demo/work/implementation/lib.rs")),
        ("tests/properties.rs", include_str!("../../demo/work/tests/properties.rs")),
    ] {
        assert_eq!(fs::read_to_string(repository.join(file)).unwrap(), text, "{file}");
    }
    let mut cargo = Command::new("cargo");
    // The directory in which the dependencies are compiled.
    let target = target.join("verdicts");
    cargo.args(["test", "--quiet", "--offline"]).current_dir(&repository).env("CARGO_TARGET_DIR", target);
    let tested = Ran::of(cargo.output().unwrap());
    assert_eq!(tested.exit, Some(0), "{}{}", tested.stdout, tested.stderr);
    // The account covers all processes.
    let narrative = account["result"]["witness"]["narrative"].as_str().unwrap();
    for node in all {
        let told = narrative.split("; ").filter(|step| step.starts_with(&format!("{node} went on to "))).count();
        assert_eq!(told, 1, "{node} in {narrative:?}");
    }
}

/// A refused round is cleaned up in the next process as well: the worktree is at the stubs, the agent's session goes on, and
/// in the end the user's repository has nothing of the run except the work.
#[tokio::test]
async fn a_run_that_is_killed_after_a_refused_round_goes_on_with_the_next() {
    let repository = Repository::new().await;
    let session = Session::new();
    let target = target_directory();
    let (scenario, task) = ("trivial_tests", without_mutants(session.path()));
    let more = ["--spec", &task, "--scenario", scenario, "--run-id", "r1", "--target-dir", target.to_str().unwrap()];
    let arguments = repository.arguments(&more);
    let mut process = session.spawn(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    session.wait_until_done(&mut process, "tests_reject", 1);
    process.kill();
    assert!(!repository.is_tidy());
    let refused = session.call(&["resume", "r1", "--branch", "main", "--repo", ".", "--scenario", scenario]);
    assert_eq!((refused.exit, refused.stdout.as_str()), (Some(2), ""));
    expect_test::expect![[r#"
        error: unexpected argument '--branch' found

          tip: to pass '--branch' as a value, use '-- --branch'

        Usage: hybrid resume <RUN>

        For more information, try '--help'.
    "#]]
    .assert_eq(&refused.stderr);
    let ran = session.call(&["resume", "r1", "--json"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let told = ran.json();
    assert_eq!((&told["outcome"], &told["result"]["success"]), (&"finished".into(), &true.into()));
    assert_eq!((&told["visits"]["tests"], &told["visits"]["tests_reject"]), (&2.into(), &1.into()));
    assert_eq!(told["result"]["target"]["after"].as_str().unwrap(), git(&repository.path(), &["rev-parse", "main"]));
    let text = fs::read_to_string(repository.path().join("tests/properties.rs")).unwrap();
    assert_eq!(text, include_str!("../../demo/work/tests/properties.rs"));
    assert!(repository.is_tidy());
    assert_eq!(fs::read_dir(repository.directory.path().join("work")).unwrap().count(), 0);
}

/// Exit code 6: the first interrupt suspends.
#[tokio::test]
async fn an_interrupt_suspends_a_run_which_then_goes_on() {
    let repository = Repository::new().await;
    let session = Session::new();
    let target = target_directory();
    let task = without_mutants(session.path());
    let more = ["--spec", &task, "--scenario", "happy", "--run-id", "r1", "--target-dir", target.to_str().unwrap()];
    let arguments = repository.arguments(&more);
    let mut process = session.spawn(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    session.wait_until_done(&mut process, "blind_fork", 1);
    process.interrupt();
    let stopped = process.wait();
    assert_eq!(stopped.exit, Some(6), "{}", stopped.stderr);
    let account = stopped.json();
    assert_eq!((&account["interrupted"], &account["success"]), (&true.into(), &false.into()));
    assert_eq!(account["result"], Value::Null);
    assert_eq!(account["target"]["before"], account["target"]["after"]);
    assert!(stopped.stderr.contains("`hybrid resume r1` takes it up"), "{}", stopped.stderr);
    assert!(!repository.is_tidy(), "the worktrees are there");
    let known = Session::done(&session.show("r1"));
    let ran = session.call(&["resume", "r1"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.json()["success"].as_bool().unwrap());
    let done = Session::done(&session.show("r1"));
    assert!(done.starts_with(&known), "{known:?} is kept in {done:?}");
    assert!(repository.is_tidy());
}
