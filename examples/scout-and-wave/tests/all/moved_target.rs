//! Commits on the target branch while a wave waits or is verified.

use crate::project::{Project, git};
use crate::small::{is_blocked, passing, plan, project, script, turns};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use crate::unblocked::is_complete;
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use interlocking::toolchain::{CommandLine, Recorder};
use scout_and_wave::graph::ReviewAnswer;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A run whose wave waits for a person: its gate has failed, and passes the next time.
async fn waiting(project: &Project) -> TestRun<'_> {
    let build = CommandLine::new("build", &["all"]);
    let recorder = Recorder::new().answer(build, Recorder::exit(1, "no")).with_default_answer(Recorder::exit(0, ""));
    let test = TestRun::new(project, script(&plan(), &turns())).with_gate(&Arc::new(recorder));
    is_blocked(project, &test).await;
    test
}

/// SAW-109: while the run waits for a person, the document is edited and committed. The commit is merged before the gate runs
/// again, so the landed commit is verified, and the edit is in it.
#[tokio::test]
async fn what_is_committed_while_a_run_waits_is_verified_too() {
    let project = project().await;
    let test = waiting(&project).await;
    edit(&project, "# IMPL: Two files", "# IMPL: Two good files");
    let theirs = project.git(&["rev-parse", "main"]);
    is_complete(&test.unblock(json!("fixed")).await);
    let text = project.file("main", DOCUMENT);
    assert!(
        text.starts_with("# IMPL: Two good files\n") && text.contains("### Agent B - Completion Report\n"),
        "{text}"
    );
    let subjects = project.git(&["log", "--first-parent", "--format=%s", "-2", "main"]);
    assert_eq!(subjects, "docs: wave 1 is verified\nMerge main into wave 1\n");
    assert_eq!(project.git(&["log", "-1", "--format=%P", "main~"]).trim_end().split(' ').nth(1), Some(theirs.trim()));
}

/// SAW-36: commits made meanwhile must not change the contracts, or files that the wave has changed. Once they are reverted, the
/// wave goes on.
#[tokio::test]
async fn what_is_committed_while_a_run_waits_has_to_fit() {
    let project = project().await;
    let test = waiting(&project).await;
    edit(&project, "signature: fn greet()", "signature: fn greet(name)");
    // The second time they are in the merge already.
    for _ in 0..2 {
        assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
        let said = "the contracts on `main` are not those that wave 1 was made by: put them back there";
        assert_eq!(test.question().await.problems, [said]);
    }
    edit(&project, "signature: fn greet(name)", "signature: fn greet()");
    std::fs::write(project.root().join("a.txt"), "theirs\n").unwrap();
    project.git(&["add", "a.txt"]);
    edit(&project, "# IMPL: Two files", "# IMPL: Two good files");
    assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
    let problems = test.question().await.problems;
    assert!(problems[0].contains("the two do not go together") && problems[0].contains("a.txt"), "{problems:?}");
    project.git(&["rm", "-q", "a.txt"]);
    edit(&project, "# IMPL: Two good files", "# IMPL: Two files");
    is_complete(&test.unblock(json!("fixed")).await);
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
}

/// SAW-33, SAW-109: a person resolves a conflict with the target branch by a merge in the staging worktree, and commits it.
#[tokio::test]
async fn a_person_merges_the_target_into_the_wave() {
    let project = project().await;
    let test = waiting(&project).await;
    std::fs::write(project.root().join("a.txt"), "theirs\n").unwrap();
    project.git(&["add", "a.txt"]);
    edit(&project, "# IMPL: Two files", "# IMPL: Two good files");
    assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
    let question = test.question().await;
    let way = "change `main`, or merge it in the staging worktree and commit that";
    assert!(question.problems[0].ends_with(way), "{:?}", question.problems);
    let staging = std::path::Path::new(&question.staging);
    let git = |words: &[&str]| {
        let identity = ["-C", &question.staging, "-c", "user.name=P", "-c", "user.email=p@example.org"];
        std::process::Command::new("git").args(identity).args(words).output().unwrap().status.success()
    };
    assert!(!git(&["merge", "main"]));
    std::fs::write(staging.join("a.txt"), "both\n").unwrap();
    assert!(git(&["add", "a.txt"]));
    assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
    let problems = test.question().await.problems;
    assert!(problems[0].contains("a merge was begun in ") && problems[0].ends_with("end or abort it"), "{problems:?}");
    assert!(git(&["commit", "-qm", "Both"]));
    is_complete(&test.unblock(json!("fixed")).await);
    assert_eq!(project.file("main", "a.txt"), "both\n");
    let subjects = project.git(&["log", "--first-parent", "--format=%s", "-2", "main"]);
    assert_eq!(subjects, "docs: wave 1 is verified\nBoth\n");
}

/// SAW-109: a commit is made while the gate runs. The gate runs again, on the commit that lands.
#[tokio::test]
async fn what_is_committed_while_the_gate_runs_is_verified_too() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    test.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
    let (root, gates) = (project.root(), Arc::new(AtomicUsize::new(0)));
    let counts = gates.clone();
    let commits = move |kind: &EventKind| {
        let has_passed = matches!(kind, EventKind::NodeFinished { node, .. } if node.node == *"verify");
        if has_passed && counts.fetch_add(1, Ordering::SeqCst) == 0 {
            std::fs::write(root.join("theirs.txt"), "theirs\n").unwrap();
            git(&root, &["add", "theirs.txt"]);
            git(&root, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Theirs"]);
        }
        false
    };
    is_complete(&test.resume_until_told(commits).expect("nobody kills it"));
    assert_eq!(gates.load(Ordering::SeqCst), 2);
    assert_eq!(
        (project.file("main", "theirs.txt"), project.file("main", "a.txt")),
        ("theirs\n".to_owned(), "by agent A of wave 1\n".to_owned())
    );
    assert_eq!(
        project.git(&["reflog", "main", "--format=%s"]).lines().count(),
        4,
        "begun, planned, theirs, and the wave"
    );
}
