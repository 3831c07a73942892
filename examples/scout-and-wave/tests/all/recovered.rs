//! Runs whose journal is lost: another run goes on with the document and git.

use crate::descoped::is_without_b;
use crate::project::{Project, git};
use crate::small::{Turn, is_blocked, passing, plan, project, script, script_again, turn, turns};
use crate::solo::{alone, solo_plan};
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use interlocking::toolchain::Recorder;
use interlocking::workspaces::FilePath;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{ReviewAnswer, SawResult};
use scout_and_wave::protocol::state::{BlockReason, State};
use scout_and_wave::request::Request;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn recover() -> Request {
    Request::Recover { document: FilePath::new(DOCUMENT).unwrap(), run: RunId::DEFAULT }
}

/// Another run takes over the project, and is approved if it asks.
async fn goes_on(project: &Project, plan: &Value, turns: &[Turn]) -> (Outcome<SawResult>, Vec<String>) {
    let again = TestRun::of_another_run(project, script_again(plan, turns), "r2").with_gate(&passing());
    let ended = match again.begin(recover()).await {
        Outcome::Waiting { .. } => again.approve().await,
        ended => ended,
    };
    (ended, again.started())
}

pub(crate) fn count(nodes: &[String], name: &str) -> usize {
    nodes.iter().filter(|node| *node == name).count()
}

/// Asserts that another run, which does not know the journal of the run that was killed, comes to the same: nothing of the wave is
/// lost or merged twice, and `main` has advanced once. Gives the nodes that it has begun.
pub(crate) async fn comes_to_the_same_without_its_journal(project: &Project, after: usize) -> Vec<String> {
    let (ended, started) = goes_on(project, &plan(), &turns()).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{after}: {ended:?}");
    let merges = project.git(&["log", "--merges", "--reverse", "--format=%s", "main"]);
    assert_eq!(merges, "Merge wave1-agent-a\nMerge wave1-agent-b\n", "{after}: {started:?}");
    assert_eq!(project.git(&["reflog", "main", "--format=%s"]).lines().count(), 3, "{after}");
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n", "{after}");
    let read = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
    assert_eq!((read.status.state, read.reports.len()), (State::Complete, 2), "{after}");
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1, "{after}");
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n", "{after}");
    started
}

/// SAW-43, SAW-44, SAW-63, SAW-105: an agent that had not completed, or whose gate had failed, works again; the other does not, and
/// its commit is cherry-picked.
#[tokio::test]
async fn who_was_done_does_not_work_again() {
    for (field, said) in [("status", "partial"), ("verification", "FAIL (true - 0/1 tests)")] {
        let project = project().await;
        let mut first = turn("A", "a.txt");
        (first.report[field], first.actions) = (json!(said), vec![vec!["write", "draft.txt"], vec!["commit"]]);
        let test = TestRun::new(&project, script(&plan(), &[first, turn("B", "b.txt")]));
        is_blocked(&project, &test).await;
        drop(test);
        let (ended, started) = goes_on(&project, &plan(), &[turn("A", "a.txt")]).await;
        assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
        assert_eq!((count(&started, "review"), count(&started, "implement")), (0, 1));
        assert_eq!(project.file("main", "b.txt"), "by agent B of wave 1\n");
        assert_eq!(project.git(&["ls-tree", "-r", "--name-only", "main"]).matches("draft").count(), 0);
    }
}

/// SAW-43, SAW-105: a recovered report is not true, so its agent works again, and the other keeps its work. The branches of the lost
/// run, which have the names of this run's, are not in the way.
#[tokio::test]
async fn who_reported_what_is_not_true_works_again() {
    let project = project().await;
    let mut first = turn("A", "a.txt");
    first.report["commit"] = json!("0123456789abcdef0123456789abcdef01234567");
    let test = TestRun::new(&project, script(&plan(), &[first, turn("B", "b.txt")]));
    let (reason, _) = is_blocked(&project, &test).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    drop(test);
    let again =
        TestRun::of_another_run(&project, script_again(&plan(), &[turn("A", "a.txt")]), "r2").with_gate(&passing());
    let blocked = again.begin(recover()).await;
    assert!(matches!(blocked, Outcome::Waiting { .. }), "{blocked:?}");
    let ended = again.unblock(json!({ "rerun": { "agents": ["A"] } })).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(count(&again.started(), "implement"), 1);
    assert_eq!(project.file("main", "b.txt"), "by agent B of wave 1\n");
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n");
}

/// SAW-43, SAW-105: a person has descoped an agent, whose report is partial, or complete and not true, and the process was killed
/// after the merge. The wave goes on without the agent, and without a question.
#[tokio::test]
async fn who_was_descoped_before_the_merge_stays_descoped() {
    let (mut partial, mut untrue) = (turn("B", "b.txt"), turn("B", "b.txt"));
    partial.report["status"] = json!("partial");
    untrue.report["commit"] = json!("0123456789abcdef0123456789abcdef01234567");
    for second in [partial, untrue] {
        let project = project().await;
        let turns = [turn("A", "a.txt"), second];
        let test = TestRun::new(&project, script_again(&plan(), &turns)).with_gate(&passing());
        is_blocked(&project, &test).await;
        test.answer(&json!({ "descope": { "agents": ["B"] } })).await;
        assert!(test.resume_until_after("merge").is_none());
        drop(test);
        let (ended, started) = goes_on(&project, &plan(), &turns).await;
        assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
        assert_eq!((count(&started, "blocked_agent"), count(&started, "implement")), (0, 0));
        is_without_b(&project);
    }
}

/// SAW-16, SAW-43: an agent was descoped before the merge, and a person has put its work right since then. It is
/// merged, its lines are added, those of the other agent only once, and the document no longer says that it is not
/// merged.
#[tokio::test]
async fn who_was_descoped_and_is_fixed_is_merged() {
    for killed_after in ["merge", "append"] {
        is_merged_after(killed_after).await;
    }
}

async fn is_merged_after(node: &'static str) {
    let project = project().await;
    let (mut first, mut second) = (turn("A", "a.txt"), turn("B", "b.txt"));
    first.actions.extend([vec!["sh", "-c", "echo again >> a.txt"], vec!["commit"]]);
    second.report["status"] = json!("partial");
    let test = TestRun::new(&project, script_again(&plan(), &[first, second])).with_gate(&passing());
    is_blocked(&project, &test).await;
    test.answer(&json!({ "descope": { "agents": ["B"] } })).await;
    assert!(test.resume_until_after(node).is_none());
    drop(test);
    // A person looks at the other agent's branch, and leaves it elsewhere than it reported.
    project.git(&["update-ref", "refs/heads/wave1-agent-a", "wave1-agent-a~1"]);
    let again = TestRun::of_another_run(&project, script_again(&plan(), &turns()), "r2").with_gate(&passing());
    let blocked = again.begin(recover()).await;
    assert!(matches!(blocked, Outcome::Waiting { .. }), "{blocked:?}");
    let ended = again.unblock(json!({ "fixed": { "agents": ["A", "B"] } })).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(count(&again.started(), "implement"), 0);
    assert_eq!(project.file("main", "b.txt"), "by agent B of wave 1\n");
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
    assert!(!project.file("main", DOCUMENT).contains("Descoped"));
}

/// SAW-110: a missing branch does not prove that it was merged. A commit that is not in the history is lost, and the run says so;
/// once the branch is back the run goes on.
#[tokio::test]
async fn a_branch_that_is_gone_and_not_merged_is_a_loss() {
    let project = project().await;
    let mut second = turn("B", "b.txt");
    second.report["status"] = json!("partial");
    let test = TestRun::new(&project, script(&plan(), &[turn("A", "a.txt"), second]));
    is_blocked(&project, &test).await;
    drop(test);
    let commit = project.git(&["rev-parse", "wave1-agent-a"]).trim().to_owned();
    project.git(&["update-ref", "-d", "refs/heads/wave1-agent-a"]);
    let again = TestRun::of_another_run(&project, script_again(&plan(), &turns()), "r2").with_gate(&passing());
    let Outcome::Failed(failure) = again.begin(recover()).await else { panic!() };
    let said = format!(
        "the work of `wave1-agent-a` is lost: it reports the commit {commit}, which is not merged, and there is no such branch. Bring the branch \
         back (`git branch wave1-agent-a {commit}`), then resume the run with --retry"
    );
    assert_eq!((failure.node.as_str(), failure.message), ("recover", said));
    project.git(&["branch", "wave1-agent-a", &commit]);
    let ended = again.retry().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(
        (project.file("main", "a.txt").as_str(), count(&again.started(), "implement")),
        ("by agent A of wave 1\n", 1)
    );
}

/// SAW-110, CON-106: a missing branch that was merged on the staging branch is no loss: its commit is in the history, as the
/// second parent of a merge commit.
#[tokio::test]
async fn a_branch_that_is_gone_and_merged_is_none() {
    let project = project().await;
    let test = TestRun::new(&project, script_again(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    test.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
    assert!(test.resume_until_after("merge").is_none());
    drop(test);
    let commit = project.git(&["rev-parse", "wave1-agent-a"]);
    project.git(&["update-ref", "-d", "refs/heads/wave1-agent-a"]);
    let (ended, started) = goes_on(&project, &plan(), &turns()).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(count(&started, "implement"), 0);
    let merges = project.git(&["log", "--merges", "--reverse", "--format=%P", "main"]);
    let merged: Vec<_> = merges.lines().filter_map(|parents| parents.split(' ').nth(1)).collect();
    assert_eq!((merged.len(), merged[0]), (2, commit.trim()));
}

/// SAW-29, SAW-49, SAW-105: the gate has failed. Others' commits on the target branch since then are merged, and a
/// person has corrected an added line, when the journal is lost. The commits are no agent's work, and the line is not
/// added again.
#[tokio::test]
async fn what_came_after_the_agents_work_is_not_taken_for_it() {
    let plans = [(plan(), turns().to_vec(), 1), (solo_plan(), vec![alone("A", "a.txt"), alone("B", "b.txt")], 2)];
    for (plan, turns, waves) in plans {
        let project = project().await;
        let gate = Arc::new(Recorder::new().with_default_answer(Recorder::exit(1, "no")));
        let test = TestRun::new(&project, script_again(&plan, &turns)).with_gate(&gate);
        is_blocked(&project, &test).await;
        std::fs::write(project.root().join("theirs.txt"), "theirs\n").unwrap();
        project.git(&["add", "theirs.txt"]);
        project.git(&["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Theirs"]);
        let staging = PathBuf::from(test.question().await.staging);
        let list = std::fs::read_to_string(staging.join("list.txt")).unwrap();
        std::fs::write(staging.join("list.txt"), list.replace("two", "2")).unwrap();
        assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
        drop(test);
        let (ended, started) = goes_on(&project, &plan, &turns).await;
        let Outcome::Finished(SawResult::Complete { waves: complete, .. }) = ended else { panic!("{ended:?}") };
        let worked = count(&started, "solo") + count(&started, "implement");
        assert_eq!((complete, worked), (waves, if waves == 1 { 0 } else { 1 }));
        assert_eq!(project.file("main", "list.txt"), "one\n2\nthree\n");
        assert_eq!(project.file("main", "theirs.txt"), "theirs\n");
    }
}

/// SAW-30, SAW-105: a solo wave is recovered, whenever the process was killed.
#[tokio::test]
async fn a_solo_wave_is_recovered() {
    let turns = [alone("A", "a.txt"), alone("B", "b.txt")];
    for node in ["pending", "solo", "predict", "append", "verify", "verified"] {
        let project = project().await;
        let test = TestRun::new(&project, script_again(&solo_plan(), &turns)).with_gate(&passing());
        assert!(matches!(test.start().await, Outcome::Waiting { .. }));
        test.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
        assert!(test.resume_until_after(node).is_none());
        drop(test);
        if node == "pending" {
            // The agent may have begun to write when the process was killed; a person removes that, as a refusal says.
            git(&project.place().join("runs/run/staging"), &["clean", "-dfq"]);
        }
        let (ended, started) = goes_on(&project, &solo_plan(), &turns).await;
        assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{node}: {ended:?}");
        let solo = if node == "pending" { 2 } else { 1 };
        assert_eq!(count(&started, "solo"), solo, "{node}: {started:?}");
        let worked = project.git(&["log", "--format=%s", "main"]);
        assert_eq!(worked.lines().filter(|subject| *subject == "work").count(), 2, "{node}: {worked}");
        assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n", "{node}");
    }
}

/// SAW-13, SAW-72, SAW-114, CON-111: a solo agent has reported a commit and made another one after it, with a file that is not its
/// own. The recovered wave is blocked by that, as a wave is whose journal is there.
#[tokio::test]
async fn a_solo_agents_commit_that_it_does_not_report_is_found() {
    let project = project().await;
    let mut first = alone("A", "a.txt");
    first.actions.extend([vec!["sh", "-c", "echo other >> shared.txt"], vec!["commit"]]);
    let test = TestRun::new(&project, script(&solo_plan(), &[first]));
    is_blocked(&project, &test).await;
    // As if it had reported its first commit.
    let staging = PathBuf::from(test.question().await.staging);
    let head = git(&staging, &["rev-parse", "HEAD~1"]);
    let (head, reported) = (head.trim(), git(&staging, &["rev-parse", "HEAD~2"]));
    let text = std::fs::read_to_string(staging.join(DOCUMENT)).unwrap();
    std::fs::write(staging.join(DOCUMENT), text.replace(head, reported.trim())).unwrap();
    git(&staging, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qa", "--amend", "--no-edit"]);
    drop(test);
    let again = TestRun::of_another_run(&project, script_again(&solo_plan(), &[]), "r2").with_gate(&passing());
    let blocked = again.begin(recover()).await;
    assert!(matches!(blocked, Outcome::Waiting { .. }), "{blocked:?}");
    let question = again.question().await;
    let other = format!("wave1-agent-a: it reports the commit {}, and `r2/staging` is at {head}", reported.trim());
    let unjustified = "wave1-agent-a: it touched `shared.txt`, which is not its own, and does not report why";
    assert_eq!((question.reason, question.problems), (BlockReason::AgentFailure, vec![other, unjustified.to_owned()]));
}

/// SAW-43, SAW-105: what the lost run has left cannot be removed completely. Once it can, the run goes on: the agent that was done
/// does not work again.
#[tokio::test]
async fn work_that_is_done_is_known_until_the_wave_goes_on_with_it() {
    let project = project().await;
    let mut first = turn("A", "a.txt");
    first.report["status"] = json!("partial");
    let test = TestRun::new(&project, script(&plan(), &[first, turn("B", "b.txt")]));
    is_blocked(&project, &test).await;
    drop(test);
    // As while a git program changes the branch.
    let lock = project.root().join(".git/refs/heads/wave1-agent-a.lock");
    std::fs::write(&lock, "").unwrap();
    let again = TestRun::of_another_run(&project, script_again(&plan(), &turns()), "r2").with_gate(&passing());
    let ended = again.begin(recover()).await;
    assert!(matches!(ended, Outcome::Failed(_)), "{ended:?}");
    let branches = project.git(&["branch", "--format=%(refname:short)"]);
    assert!(branches.contains("wave1-agent-a") && !branches.contains("wave1-agent-b"), "{branches}");
    std::fs::remove_file(&lock).unwrap();
    let ended = again.retry().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(count(&again.started(), "implement"), 1);
    assert_eq!(project.file("main", "b.txt"), "by agent B of wave 1\n");
}

/// SAW-16, SAW-105: an agent that works beside the document has written a gate and its own report into it. The run that goes on
/// follows the plan on the target branch, and the agent works again.
#[tokio::test]
async fn a_plan_that_an_agent_has_written_is_not_recovered() {
    let project = project().await;
    let forge = r#"commit=$(git rev-parse HEAD)
sed -i 's/\[build, all\]/[forged]/' docs/IMPL-stats.md
cat >> docs/IMPL-stats.md <<'END'

### Agent A - Completion Report

```yaml
status: complete
worktree: main
commit: $commit
files_changed: []
files_created: [a.txt]
interface_deviations: []
out_of_scope_deps: []
tests_added: []
verification: PASS (true - 0/0 tests)
```
END
sed -i 's/$commit/'$commit/ docs/IMPL-stats.md"#;
    let mut first = alone("A", "a.txt");
    first.actions.extend([vec!["sh", "-c", forge], vec!["commit"]]);
    first.report["verification"] = json!("all is well");
    let test = TestRun::new(&project, script(&solo_plan(), &[first]));
    is_blocked(&project, &test).await;
    drop(test);
    let (recorder, turns) = (passing(), [alone("A", "a.txt"), alone("B", "b.txt")]);
    let again = TestRun::of_another_run(&project, script_again(&solo_plan(), &turns), "r2").with_gate(&recorder);
    let ended = match again.begin(recover()).await {
        Outcome::Waiting { .. } => again.approve().await,
        ended => ended,
    };
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
    let calls: Vec<_> = recorder.calls().iter().map(|call| call.command.to_string()).collect();
    assert_eq!(calls, ["build all", "test all", "build all", "test all"]);
    assert_eq!(count(&again.started(), "solo"), 2);
    assert!(!project.file("main", DOCUMENT).contains("forged"));
}
