//! What a run whose journal is lost has left uncommitted.

use crate::project::{Project, git};
use crate::recovered::{count, recover};
use crate::small::{is_blocked, passing, plan, project, script, script_again, turn, turns};
use crate::test_run::TestRun;
use interlocking::prelude::*;
use interlocking::toolchain::Recorder;
use interlocking::worktree::BranchName;
use scout_and_wave::graph::SawResult;
use scout_and_wave::protocol::state::BlockReason;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The worktree that has a branch checked out.
fn worktree_on(project: &Project, branch: &str) -> PathBuf {
    let branch = BranchName::new(branch).unwrap();
    let entries = project.repository().worktrees().unwrap();
    entries.into_iter().find(|entry| entry.branch.as_ref() == Some(&branch)).unwrap().path
}

const COMMIT: [&str; 6] = ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm"];

/// Commits everything in a worktree, like a person.
fn commit_all(worktree: &Path) {
    git(worktree, &["add", "-A"]);
    git(worktree, &[&COMMIT[..], &["by hand"]].concat());
}

/// SAW-105, CON-110: a person has put files right in the staging worktree, as a failed gate asks, and did not commit them. They are
/// not removed: once they are committed, the run goes on with them.
#[tokio::test]
async fn what_a_person_has_put_right_is_not_removed() {
    let project = project().await;
    let failing = Arc::new(Recorder::new().with_default_answer(Recorder::exit(1, "")));
    let test = TestRun::new(&project, script_again(&plan(), &turns())).with_gate(&failing);
    assert_eq!(is_blocked(&project, &test).await.0, BlockReason::Verification);
    drop(test);
    let staging = worktree_on(&project, &format!("{}/staging", RunId::DEFAULT));
    std::fs::write(staging.join("shared.txt"), "put right\n").unwrap();
    // As if it had been killed before it committed the lines of the wave: these do not count.
    git(&staging, &["reset", "-q", "--soft", "HEAD~1"]);
    assert_eq!(git(&staging, &["status", "--short", "list.txt"]), "M  list.txt\n");
    let again = TestRun::of_another_run(&project, script_again(&plan(), &turns()), "r2").with_gate(&passing());
    let Outcome::Failed(failure) = again.begin(recover()).await else { panic!() };
    let said = format!(
        "the staging worktree of `{}`, {}, has changes that are not committed: commit or remove `shared.txt`, then resume the run with --retry",
        RunId::DEFAULT,
        staging.display()
    );
    assert_eq!((failure.node.as_str(), failure.message), ("recover", said));
    commit_all(&staging);
    let ended = again.retry().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
    assert_eq!((project.file("main", "shared.txt").as_str(), count(&again.started(), "implement")), ("put right\n", 0));
}

/// SAW-17, SAW-84, CON-110: an agent has reported that it is complete, and did not commit a file. The recovered wave is not merged
/// without it.
#[tokio::test]
async fn what_an_agent_did_not_commit_is_seen_again() {
    let (project, mut plan) = (project().await, plan());
    plan["waves"][0]["agents"][0]["creates"] = json!(["a.txt", "more.txt"]);
    let mut first = turn("A", "a.txt");
    first.actions.push(vec!["write", "more.txt"]);
    let test = TestRun::new(&project, script(&plan, &[first, turn("B", "b.txt")]));
    is_blocked(&project, &test).await;
    drop(test);
    let again = TestRun::of_another_run(&project, script_again(&plan, &turns()), "r2").with_gate(&passing());
    let blocked = again.begin(recover()).await;
    assert!(matches!(blocked, Outcome::Waiting { .. }), "{blocked:?}");
    let question = again.question().await;
    assert_eq!(question.reason, BlockReason::AgentFailure);
    assert!(question.problems[0].contains("agent A did not commit `more.txt`"), "{:?}", question.problems);
    commit_all(&worktree_on(&project, "wave1-agent-a"));
    let ended = again.unblock(json!({ "fixed": { "agents": ["A"] } })).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(project.file("main", "more.txt"), "by agent A of wave 1\n");
}

/// SAW-17, CON-110: the same where another agent has not completed its work. Nothing begins again before the file is committed.
#[tokio::test]
async fn what_an_agent_did_not_commit_is_not_removed() {
    let project = project().await;
    let (mut first, mut second) = (turn("A", "a.txt"), turn("B", "b.txt"));
    first.actions.push(vec!["write", "more.txt"]);
    second.report["status"] = json!("partial");
    let test = TestRun::new(&project, script(&plan(), &[first, second]));
    is_blocked(&project, &test).await;
    drop(test);
    let again = TestRun::of_another_run(&project, script_again(&plan(), &turns()), "r2").with_gate(&passing());
    let Outcome::Failed(failure) = again.begin(recover()).await else { panic!() };
    let worktree = worktree_on(&project, "wave1-agent-a");
    let said = "the worktree of `wave1-agent-a` has changes that are not committed: commit or remove `more.txt`, then resume the run with \
                --retry";
    assert_eq!((failure.node.as_str(), failure.message.as_str()), ("recover", said));
    std::fs::remove_file(worktree.join("more.txt")).unwrap();
    let ended = again.retry().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(count(&again.started(), "implement"), 1);
}
