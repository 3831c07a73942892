//! Causes that block a launched wave: nothing of it lands.

use crate::project::git;
use crate::small::{Turn, is_blocked, passing, plan, project, script, second_turns, text, turn, turns, two_waves};
use crate::test_run::TestRun;
use interlocking::agents::Script;
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use interlocking::toolchain::{CommandLine, Recorder};
use scout_and_wave::graph::{ReviewAnswer, SawResult};
use scout_and_wave::protocol::state::BlockReason;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// The result of a wave whose first agent does this, and whose second agent behaves correctly.
async fn first_does(first: Turn) -> (BlockReason, Vec<String>, Vec<String>, String) {
    runs(script(&plan(), &[first, turn("B", "b.txt")])).await
}

async fn runs(script: Script) -> (BlockReason, Vec<String>, Vec<String>, String) {
    let project = project().await;
    let recorder = passing();
    let test = TestRun::new(&project, script).with_gate(&recorder);
    let (reason, problems) = is_blocked(&project, &test).await;
    // SAW-44: nothing was merged or built, although the other agent is done.
    assert_eq!(recorder.calls().len(), 0);
    assert_eq!(project.git(&["log", "--all", "--merges", "--format=%s"]), "");
    // A person stops the run: committed work is kept.
    let ended = test.unblock(json!("stop")).await;
    let Outcome::Finished(SawResult::Stopped { wave: 1, reason: stopped, problems: told }) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!((stopped, &told), (reason, &problems));
    let archived = project.git(&["for-each-ref", "--format=%(refname)", "refs/interlocking/archive"]);
    (reason, problems, test.states(), archived)
}

/// The small plan as a whole. SAW-48: the gate runs on everything, command by command, in a fresh checkout.
#[tokio::test]
async fn a_wave_that_is_as_it_should_be_lands() {
    let project = project().await;
    let recorder = passing();
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&recorder);
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let calls: Vec<_> = recorder.calls().iter().map(|call| call.command.to_string()).collect();
    assert_eq!(calls, ["build all", "test all"]);
    assert!(recorder.calls()[0].directory.ends_with(".checkouts/1"), "{:?}", recorder.calls()[0].directory);
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
}

/// An agent that is not confined can write above the checkouts. What decides there how everything is built was noted when the run
/// began.
#[tokio::test]
async fn what_decides_how_everything_is_built_may_not_change_during_a_run() {
    let project = project().await;
    let recorder = passing();
    let mut turns = turns();
    turns[0].actions.insert(0, vec!["sh", "-c", "until [ -d runs ]; do cd ..; done; echo '[workspace]' > Cargo.toml"]);
    let test = TestRun::new(&project, script(&plan(), &turns)).with_gate(&recorder);
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    let Outcome::Failed(failure) = ended else { panic!("{ended:?}") };
    let said = format!("{} has changed since this run began", project.place().join("Cargo.toml").display());
    assert!(failure.message.contains(&said), "{}", failure.message);
    assert_eq!(recorder.calls().len(), 0);
}

/// SAW-40, SAW-25: when an agent begins, the worktrees of all agents are there, each on its branch.
#[tokio::test]
async fn all_worktrees_are_there_before_the_first_agent_begins() {
    let project = project().await;
    let all_there = vec![
        "sh",
        "-c",
        "for b in a b; do git worktree list --porcelain | grep -qx branch.refs/heads/wave1-agent-$b || exit 1; done",
    ];
    let turns = turns().map(|mut turn| {
        turn.actions.insert(0, all_there.clone());
        turn
    });
    let test = TestRun::new(&project, script(&plan(), &turns)).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let started = test.started();
    let of_agents: Vec<_> =
        started.iter().filter(|node| matches!(node.as_str(), "wait_for_worktrees" | "implement")).collect();
    assert_eq!(of_agents, ["wait_for_worktrees", "wait_for_worktrees", "implement", "implement"]);
}

/// SAW-40: if one agent's worktree cannot be made, because its branch is taken, no agent begins.
#[tokio::test]
async fn no_agent_begins_where_one_has_no_worktree() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns()));
    project.git(&["branch", "wave1-agent-b"]);
    let (reason, problems) = is_blocked(&project, &test).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems.iter().any(|problem| problem.contains("wave1-agent-b has not reported")
            && problem.contains("a branch that this run did not make")),
        "{problems:?}"
    );
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("`wave1-agent-b` has no worktree, so no agent of its wave begins")),
        "{problems:?}"
    );
    assert!(!test.started().contains(&"implement".to_owned()));
    assert_eq!(test.unplayed(), 2);
}

/// SAW-43, SAW-44, SAW-26: an agent that did not complete.
#[tokio::test]
async fn a_partial_or_blocked_report_blocks_the_wave() {
    for status in ["partial", "blocked"] {
        let mut first = turn("A", "a.txt");
        first.report["status"] = json!(status);
        first.report["notes"] = json!("The format is not known.");
        let (reason, problems, states, archived) = first_does(first).await;
        assert_eq!(reason, BlockReason::AgentFailure);
        assert_eq!(problems, [format!("wave1-agent-a reports `{status}`: The format is not known.")]);
        assert_eq!(states.last().unwrap(), "BLOCKED (AgentFailure)");
        // The commits of both, and the document with their reports, are kept.
        assert_eq!(archived.lines().filter(|reference| reference.contains("wave1-agent-")).count(), 2, "{archived}");
    }
}

/// A wave is stopped in the process that has landed the plan. Its commits are kept, too.
#[tokio::test]
async fn the_commits_of_a_stopped_wave_are_kept_although_the_plan_has_landed() {
    let project = project().await;
    let mut first = turn("A", "a.txt");
    first.report["status"] = json!("partial");
    let test = TestRun::new(&project, script(&plan(), &[first, turn("B", "b.txt")])).with_gate(&passing());
    let approval = serde_json::to_value(ReviewAnswer::Approve { acknowledge_caveats: false }).unwrap();
    let ended = test.start_with_people(&[approval, json!("stop")]).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Stopped { wave: 1, .. })), "{ended:?}");
    let archived = project.git(&["for-each-ref", "--format=%(refname)", "refs/interlocking/archive"]);
    assert_eq!(archived.lines().filter(|reference| reference.contains("wave1-agent-")).count(), 2, "{archived}");
}

/// SAW-43, SAW-63: an agent reports that it is complete, and that its own commands, or some of its tests, have failed,
/// or in the words for work that a person has finished.
#[tokio::test]
async fn a_complete_report_with_a_failed_gate_blocks_the_wave() {
    let reports = |verification: &str| format!("wave1-agent-a reports `complete`: {verification}");
    let by_hand = "FAIL (not run by an agent - 0/0 tests)";
    let has_not = format!(
        "wave1-agent-a has not reported: node `implement` failed: an agent reported \"{by_hand}\", which stands for work that a person has \
         finished"
    );
    let (failed, some) = ("FAIL (true - 1/1 tests)", "PASS (true - 2/3 tests)");
    for (verification, said) in [(failed, reports(failed)), (some, reports(some)), (by_hand, has_not)] {
        let mut first = turn("A", "a.txt");
        first.report["verification"] = json!(verification);
        let (reason, problems, ..) = first_does(first).await;
        assert_eq!(reason, BlockReason::AgentFailure);
        assert_eq!(problems, [said]);
    }
}

/// SAW-79, SAW-83, SAW-85: an agent whose report is malformed, or is prose, has not reported: its text does not count.
#[tokio::test]
async fn an_agent_without_a_report_blocks_the_wave() {
    let mut malformed = turn("A", "a.txt");
    malformed.report["verification"] = json!("all is well");
    let prose = Turn { report: json!("a.txt is written and committed, and its gate passes."), ..turn("A", "a.txt") };
    for first in [malformed, prose] {
        let again = format!(
            "[[turn]]\nagent = \"agent\"\ncontains = [\"Your last answer\"]\ntimes = \"any\"\noutput_json = '''{}'''\n",
            first.report
        );
        let text = text(&plan(), &[first, turn("B", "b.txt")], "") + &again;
        let (reason, problems, ..) = runs(Script::parse("a test's script", &text).unwrap()).await;
        assert_eq!(reason, BlockReason::AgentFailure);
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        let begins = "wave1-agent-a has not reported: I4 is broken: its output is not a completion report, and is not written to the document (";
        let ends = "; so later work relies on information that is out of date";
        assert!(problem.starts_with(begins) && problem.ends_with(ends), "{problem}");
    }
}

/// SAW-17, SAW-84: work that is not committed.
#[tokio::test]
async fn uncommitted_work_blocks_the_wave() {
    let mut first = turn("A", "a.txt");
    first.actions = vec![vec!["write", "other.txt"], vec!["commit"], vec!["write", "a.txt"]];
    first.report["out_of_scope_deps"] = json!([{ "file": "other.txt", "change": "new", "reason": "needed" }]);
    let (reason, problems, ..) = first_does(first).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    assert!(
        matches!(&problems[..], [problem] if problem.starts_with("wave1-agent-a: I5 is broken: agent A did not commit `a.txt`;")),
        "{problems:?}"
    );
}

/// SAW-108: an agent that committed nothing.
#[tokio::test]
async fn an_agent_that_did_nothing_blocks_the_wave() {
    let mut first = turn("A", "a.txt");
    (first.actions, first.report["files_created"]) = (vec![], json!([]));
    let (reason, problems, ..) = first_does(first).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    assert!(
        matches!(&problems[..], [problem] if problem.starts_with("wave1-agent-a: there is no commit on `wave1-agent-a`")),
        "{problems:?}"
    );
}

/// SAW-71: a reported commit that is not the branch's.
#[tokio::test]
async fn a_report_of_another_commit_blocks_the_wave() {
    let mut first = turn("A", "a.txt");
    first.report["commit"] = json!("1".repeat(40));
    let (reason, problems, ..) = first_does(first).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    assert!(
        matches!(&problems[..], [problem] if problem.starts_with("wave1-agent-a: it reports the commit 1111")),
        "{problems:?}"
    );
}

/// SAW-13: a file out of scope without a reason.
#[tokio::test]
async fn a_file_of_nobody_blocks_the_wave_without_a_reason() {
    let mut first = turn("A", "a.txt");
    first.actions.insert(0, vec!["write", "shared.txt"]);
    let (reason, problems, ..) = first_does(first).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    assert_eq!(problems, ["wave1-agent-a: it touched `shared.txt`, which is not its own, and does not report why"]);
}

/// SAW-39, SAW-49, SAW-80, SAW-85, SAW-90: two agents with disjoint files, so that they are launched, touched one file, and one
/// of them does not report it. Nothing was merged.
#[tokio::test]
async fn a_file_that_two_touched_blocks_the_wave() {
    let mut first = turn("A", "a.txt");
    first.actions.insert(0, vec!["write", "b.txt"]);
    first.report["out_of_scope_deps"] = json!([{ "file": "b.txt", "change": "a line", "reason": "needed" }]);
    let (reason, problems, states, _) = first_does(first).await;
    assert_eq!(
        (reason, &problems[..]),
        (BlockReason::Ownership, &["I1 is broken: `b.txt` is in the lists of agents A and B; so the merge conflicts, or one agent's work undoes another's".to_owned()][..])
    );
    assert_eq!(states.last().unwrap(), "BLOCKED (Ownership)");
}

/// SAW-16, SAW-83: only the orchestrator may write the document.
#[tokio::test]
async fn an_agent_that_writes_the_document_blocks_the_wave() {
    let mut first = turn("A", "a.txt");
    first.actions.insert(0, vec!["write", crate::test_run::DOCUMENT]);
    let (reason, problems, ..) = first_does(first).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    assert!(
        problems[0].starts_with("wave1-agent-a: I4 is broken: agent A touched `docs/IMPL-stats.md`"),
        "{problems:?}"
    );
}

/// SAW-13, SAW-72, SAW-114: with a reason the wave lands, and the document lists what was not reported.
#[tokio::test]
async fn discrepancies_are_listed_in_the_document() {
    let project = project().await;
    let mut first = turn("A", "a.txt");
    first.actions.insert(0, vec!["write", "shared.txt"]);
    first.report["out_of_scope_deps"] = json!([{ "file": "shared.txt", "change": "a line", "reason": "it is read" }]);
    first.report["files_created"] = json!(["a.txt", "shared.txt"]);
    let mut second = turn("B", "b.txt");
    second.report["files_created"] = json!([]);
    // An agent's words are no list.
    second.report["notes"] = json!("### Wave 1 - Discrepancies\n\nWave 1 - Discrepancies: none");
    let test = TestRun::new(&project, script(&plan(), &[first, second])).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let listed = "### Wave 1 - Discrepancies\n\n- Agent A: it touched `shared.txt`, which is not its own: it is read\n- Agent B: it touched \
                  `b.txt` and does not report it\n";
    let text = project.file("main", crate::test_run::DOCUMENT);
    assert!(text.contains(listed), "{text}");
}

/// SAW-31, SAW-88: a gate that fails. Later commands are not run.
#[tokio::test]
async fn a_gate_that_fails_blocks_the_wave() {
    let project = project().await;
    let build = CommandLine::new("build", &["all"]);
    let recorder = Arc::new(Recorder::new().answer(build, Recorder::exit(1, "greet is not there")));
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&recorder);
    let (reason, problems) = is_blocked(&project, &test).await;
    assert_eq!(
        (reason, &problems[..]),
        (BlockReason::Verification, &["`build all` fails:\ngreet is not there".to_owned()][..])
    );
    assert_eq!(recorder.calls().len(), 1);
    assert_eq!(test.states().last().unwrap(), "BLOCKED (Verification)");
}

/// SAW-27: prediction, then the merges, then the removal of the worktrees. Nothing is merged before all reports were checked, and
/// every worktree is there until the last branch is merged.
#[tokio::test]
async fn a_wave_is_predicted_then_merged_and_then_cleaned_up() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    test.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
    let root = project.root();
    let told = Arc::new(Mutex::new(Vec::new()));
    let noted = told.clone();
    let look = move |kind: &EventKind| {
        let what = match kind {
            EventKind::NodeFinished { node, .. } if ["predict", "merge"].contains(&&*node.node) => {
                node.node.to_string()
            }
            EventKind::Note { text, .. } if text.starts_with("merged ") => text.clone(),
            _ => return false,
        };
        let worktrees = git(&root, &["worktree", "list"]);
        let agents = worktrees.lines().filter(|line| line.contains("[wave1-agent-")).count();
        let merges = git(&root, &["log", "--all", "--merges", "--format=%s"]).lines().count();
        noted.lock().unwrap().push((what, merges > 0, agents));
        false
    };
    let ended = test.resume_until_told(look).expect("nobody kills it");
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let order = [
        ("predict", false, 2),
        ("merged wave1-agent-a", true, 2),
        ("merged wave1-agent-b", true, 2),
        ("merge", true, 0),
    ];
    assert_eq!(*told.lock().unwrap(), order.map(|(what, is_merged, agents)| (what.to_owned(), is_merged, agents)));
}

/// SAW-28, CON-115: once a wave is merged its worktrees are removed, and its branches are kept.
#[tokio::test]
async fn the_worktrees_of_a_merged_wave_are_gone() {
    let project = project().await;
    let gone = "git worktree list | grep -q wave1 && exit 1; git rev-parse -q --verify wave1-agent-a && git rev-parse -q --verify wave1-agent-b";
    let later = second_turns().map(|mut turn| {
        turn.actions.insert(0, vec!["sh", "-c", gone]);
        turn
    });
    let all: Vec<_> = turns().into_iter().chain(later).collect();
    let test = TestRun::new(&project, script(&two_waves(), &all)).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
}
