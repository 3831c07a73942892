//! Waves of one agent: no worktree is made for it and nothing is merged, but the gate still runs.

use crate::project::git;
use crate::small::{Turn, is_blocked, passing, plan, project, script, script_again, turn};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use interlocking::toolchain::{CommandLine, Recorder};
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{ReviewAnswer, SawResult};
use scout_and_wave::protocol::state::BlockReason;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Agent A in wave 1, agent B in wave 2.
pub(crate) fn solo_plan() -> Value {
    let mut plan = plan();
    let agents = plan["waves"][0]["agents"].take();
    plan["waves"] = json!([{ "agents": [agents[0]] }, { "agents": [agents[1]] }]);
    plan
}

/// Agent A in wave 1, agents B and C in wave 2.
pub(crate) fn solo_before_others() -> Value {
    let mut plan = solo_plan();
    let mut third = plan["waves"][1]["agents"][0].clone();
    (third["agent"], third["creates"]) = (json!("C"), json!(["c.txt"]));
    plan["waves"][1]["agents"].as_array_mut().unwrap().push(third);
    plan
}

/// The turn of an agent that is alone in its wave.
pub(crate) fn alone(letter: &'static str, file: &'static str) -> Turn {
    let post = if letter == "A" { "agent A of wave 1" } else { "agent B of wave 2" };
    let mut turn = Turn { post, ..turn(letter, file) };
    turn.report["worktree"] = json!("main");
    turn
}

fn is_complete(ended: &Outcome<SawResult>) {
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
}

/// SAW-24, SAW-30, SAW-35, CON-103: each agent works on top of `main`, without a worktree or a branch of its own, and its commits
/// are on `main` unchanged once the gate has passed.
#[tokio::test]
async fn a_solo_wave_is_verified_and_not_merged() {
    let project = project().await;
    let main = format!("git -C '{}' rev-parse main", project.root().display());
    let nothing_of_its_own = format!(
        "git worktree list --porcelain | grep -q wave && exit 1; git for-each-ref | grep -q wave && exit 1; [ $(git rev-parse HEAD) = $({main}) ]"
    );
    let nothing_of_its_own: &'static str = Box::leak(nothing_of_its_own.into_boxed_str());
    let turns = [alone("A", "a.txt"), alone("B", "b.txt")].map(|mut turn| {
        turn.actions.insert(0, vec!["sh", "-c", nothing_of_its_own]);
        turn
    });
    let recorder = passing();
    let test = TestRun::new(&project, script(&solo_plan(), &turns)).with_gate(&recorder);
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let planned = project.git(&["rev-parse", "main"]);
    is_complete(&test.approve().await);
    let of_wave = ["solo", "predict", "append", "verify", "verified"];
    let nodes = [&["pending"][..], &of_wave, &["pending"], &of_wave].concat();
    assert_eq!(test.started().split_off(5), nodes);
    let wave = ["WAVE_PENDING", "WAVE_EXECUTING", "WAVE_VERIFIED"];
    assert_eq!(test.states().split_off(2), [&wave[..], &wave, &["COMPLETE"]].concat());
    assert_eq!(recorder.calls().len(), 4, "the gate, for each wave");
    assert_eq!(project.git(&["log", "--merges", "--format=%s", "main"]), "");
    let subjects = project.git(&["log", "--reverse", "--format=%s", &format!("{}..main", planned.trim())]);
    let subjects: Vec<_> = subjects.lines().collect();
    assert_eq!(
        subjects[..4],
        ["work", "docs: report of wave 1", "Add the lines of wave 1", "docs: wave 1 is verified"]
    );
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
    let text = project.file("main", DOCUMENT);
    let reports = Impl::read(DOCUMENT, &text).unwrap().reports;
    assert_eq!(reports.iter().map(|reported| &*reported.report.worktree).collect::<Vec<_>>(), ["main", "main"]);
    // The revert point.
    let point = format!("### Wave 1 - Revert point\n\n- `main` was at {} before it", planned.trim());
    assert!(text.contains(&point), "{text}");
    // SAW-57: its prompt describes its place correctly.
    assert!(text.contains("- `worktree`: `main`\n") && !text.contains(".claude/worktrees"), "{text}");
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
}

/// CON-103: the revert point names the branch on which the wave lands, whatever its name.
#[tokio::test]
async fn a_revert_point_names_the_target_branch() {
    let project = project().await.with_target("trunk");
    let turns = [alone("A", "a.txt"), alone("B", "b.txt")];
    let test = TestRun::new(&project, script(&solo_plan(), &turns)).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    is_complete(&test.approve().await);
    let text = project.file("trunk", DOCUMENT);
    assert!(text.contains("### Wave 1 - Revert point\n\n- `trunk` was at "), "{text}");
}

/// SAW-24, SAW-25: a wave of several agents after a solo wave begins with the solo agent's work.
#[tokio::test]
async fn a_solo_wave_comes_before_others() {
    let project = project().await;
    let later = |post, letter: &str, file| {
        let mut turn = Turn { post, ..turn("B", file) };
        turn.report["worktree"] = json!(format!(".claude/worktrees/wave2-agent-{letter}"));
        turn.actions.insert(0, vec!["test", "-f", "a.txt"]);
        turn
    };
    let turns =
        [alone("A", "a.txt"), later("agent B of wave 2", "b", "b.txt"), later("agent C of wave 2", "c", "c.txt")];
    let test = TestRun::new(&project, script(&solo_before_others(), &turns)).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    is_complete(&test.approve().await);
    let merges = project.git(&["log", "--reverse", "--merges", "--format=%s", "main"]);
    assert_eq!(merges, "Merge wave2-agent-b\nMerge wave2-agent-c\n");
}

/// A run whose first agent does this, and which is blocked.
async fn first_does<'p>(
    project: &'p crate::project::Project,
    first: Turn,
    then: Vec<Turn>,
) -> (TestRun<'p>, BlockReason, Vec<String>) {
    let turns: Vec<_> = [first].into_iter().chain(then).chain([alone("B", "b.txt")]).collect();
    let test = TestRun::new(project, script(&solo_plan(), &turns)).with_gate(&passing());
    let (reason, problems) = is_blocked(project, &test).await;
    (test, reason, problems)
}

/// SAW-43, SAW-69, SAW-79, CON-153: an agent that did not complete, or has no report, works again, starting at `main`; its
/// earlier commits are in the archive.
#[tokio::test]
async fn a_solo_agent_is_sent_to_work_again() {
    let mut partial = alone("A", "draft.txt");
    (partial.report["status"], partial.report["notes"]) = (json!("partial"), json!("Not all."));
    let mut wrong = alone("A", "draft.txt");
    wrong.report["verification"] = json!("all is well");
    for (first, said) in
        [(partial, "wave1-agent-a reports `partial`: Not all."), (wrong, "wave1-agent-a has not reported: ")]
    {
        let project = project().await;
        let (test, reason, problems) = first_does(&project, first, vec![alone("A", "a.txt")]).await;
        assert_eq!((reason, problems.len()), (BlockReason::AgentFailure, 1));
        assert!(problems[0].starts_with(said), "{problems:?}");
        assert_eq!(test.states().last().unwrap(), "BLOCKED (AgentFailure)");
        // No other agent would be left.
        assert!(matches!(test.unblock(json!({ "descope": { "agents": ["A"] } })).await, Outcome::Waiting { .. }));
        assert_eq!(test.question().await.problems.last().unwrap(), "no agent would be left: stop the run instead");
        is_complete(&test.unblock(json!({ "rerun": { "agents": ["A"] } })).await);
        assert_eq!(test.unplayed(), 0);
        let has_draft = |commit: &str| project.git(&["ls-tree", "-r", "--name-only", commit]).contains("draft.txt");
        assert!(!has_draft("main"));
        let archived = project.git(&["for-each-ref", "--format=%(objectname)", "refs/interlocking/archive"]);
        assert!(archived.lines().any(has_draft), "{archived}");
    }
}

/// SAW-43, CON-153: commits of an agent without a report are there for a person to continue with, in any process.
#[tokio::test]
async fn a_person_goes_on_with_what_a_solo_agent_has_committed() {
    let project = project().await;
    let mut wrong = alone("A", "a.txt");
    wrong.report["verification"] = json!("all is well");
    let (test, reason, _) = first_does(&project, wrong, vec![]).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    is_complete(&test.unblock(json!({ "fixed": { "agents": ["A"] } })).await);
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
}

/// SAW-43, SAW-17, SAW-84: a person finishes an agent's uncommitted work in the staging worktree. SAW-74: a deviation
/// that the agent has reported counts then, too.
#[tokio::test]
async fn a_person_finishes_a_solo_agents_work() {
    let project = project().await;
    let mut first = alone("A", "a.txt");
    first.actions.pop();
    first.report["interface_deviations"] =
        json!([{ "description": "greet takes a name", "downstream_action_required": true, "affects": ["B"] }]);
    let (test, reason, problems) = first_does(&project, first, vec![]).await;
    assert_eq!((reason, problems.len()), (BlockReason::AgentFailure, 1));
    assert!(problems[0].starts_with("wave1-agent-a: I5 is broken: agent A did not commit `a.txt`; "), "{problems:?}");
    let staging = test.question().await.staging;
    std::fs::write(Path::new(&staging).join("a.txt"), "by hand\n").unwrap();
    assert!(matches!(test.unblock(json!({ "fixed": { "agents": ["A"] } })).await, Outcome::Waiting { .. }));
    let said = "agent A departed from a contract (greet takes a name), and the section of agent B is as it was before: change it";
    assert_eq!(test.question().await.problems, [said]);
    edit(&project, "Write b.txt.", "Write b.txt. Greet by name.");
    is_complete(&test.unblock(json!("revised")).await);
    assert_eq!(project.file("main", "a.txt"), "by hand\n");
    assert!(project.file("main", DOCUMENT).contains("A person has finished this by hand.\n"));
}

/// SAW-13, SAW-16, SAW-70, SAW-71, SAW-108: its report is compared with the facts, as in any wave, also after a person has
/// finished its work.
#[tokio::test]
async fn a_solo_agents_report_is_held_against_its_work() {
    let with = |change: fn(&mut Turn)| {
        let mut turn = alone("A", "a.txt");
        change(&mut turn);
        turn
    };
    let cases = [
        (
            with(|turn| turn.actions.insert(0, vec!["write", "shared.txt"])),
            "it touched `shared.txt`, which is not its own",
        ),
        (
            with(|turn| turn.actions.insert(0, vec!["write", DOCUMENT])),
            "I4 is broken: agent A touched `docs/IMPL-stats.md`",
        ),
        (with(|turn| turn.report["worktree"] = json!(".claude/worktrees/wave1-agent-a")), "and was given `main`"),
        (with(|turn| turn.report["commit"] = json!("1".repeat(40))), "and `run/staging` is at"),
        (with(|turn| turn.actions.clear()), "there is no commit on `run/staging` beyond where it began"),
    ];
    for (first, said) in cases {
        let project = project().await;
        let (test, reason, problems) = first_does(&project, first, vec![]).await;
        assert_eq!(reason, BlockReason::AgentFailure);
        assert!(problems.iter().any(|problem| problem.contains(said)), "{problems:?}");
        // A person declares it right as it is. A file of another is still not the agent's, and no commit is still no commit.
        let ended = test.unblock(json!({ "fixed": { "agents": ["A"] } })).await;
        let is_right = !said.contains("its own") && !said.contains("no commit");
        assert_eq!(matches!(ended, Outcome::Finished(SawResult::Complete { .. })), is_right, "{said}: {ended:?}");
        if is_right {
            let read = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
            assert_eq!(read.report(&"A".parse().unwrap()).unwrap().notes, "A person has finished this by hand.");
        }
    }
}

/// SAW-45, CON-155: a solo agent finds that a contract cannot be implemented; it works again with the revised contract.
#[tokio::test]
async fn a_solo_agent_finds_a_contract_wrong() {
    let project = project().await;
    let mut first = alone("A", "a.txt");
    first.actions.clear();
    first.report["status"] = json!("blocked");
    first.report["interface_deviations"] =
        json!([{ "description": "`greet` needs a name", "downstream_action_required": false, "affects": [] }]);
    let (test, reason, problems) = first_does(&project, first, vec![alone("A", "a.txt")]).await;
    assert_eq!(
        (reason, &problems[..]),
        (BlockReason::Contract, &["wave1-agent-a reports `blocked`: `greet` needs a name".to_owned()][..])
    );
    edit(&project, "fn greet()", "fn greet(name)");
    is_complete(&test.unblock(json!("revised")).await);
    assert_eq!((test.unplayed(), test.started().iter().filter(|node| *node == "solo").count()), (0, 3));
}

/// SAW-30, SAW-31, SAW-33: its gate fails, and `main` is unchanged until a person has fixed the cause.
#[tokio::test]
async fn a_solo_waves_gate_fails() {
    let project = project().await;
    let failing = Recorder::new().answer(CommandLine::new("build", &["all"]), Recorder::exit(1, "no"));
    let recorder = Arc::new(failing.with_default_answer(Recorder::exit(0, "")));
    let turns = [alone("A", "a.txt"), alone("B", "b.txt")];
    let test = TestRun::new(&project, script(&solo_plan(), &turns)).with_gate(&recorder);
    let (reason, problems) = is_blocked(&project, &test).await;
    assert_eq!((reason, &problems[..]), (BlockReason::Verification, &["`build all` fails:\nno".to_owned()][..]));
    std::fs::write(Path::new(&test.question().await.staging).join("shared.txt"), "put right\n").unwrap();
    is_complete(&test.unblock(json!("fixed")).await);
    assert_eq!(project.file("main", "shared.txt"), "put right\n");
}

/// Turns of agent A that write into the document, and how: committed without a report, not committed, and so that it cannot be read.
fn writers_of_the_document() -> [Turn; 3] {
    let forge = vec!["sed", "-i", "s/\\[build, all\\]/[forged]/", DOCUMENT];
    let mut without_report = alone("A", "a.txt");
    without_report.actions.insert(0, forge.clone());
    without_report.report["verification"] = json!("all is well");
    let mut not_committed = alone("A", "a.txt");
    not_committed.actions.push(forge);
    let mut unreadable = without_report.clone();
    unreadable.actions[0] = vec!["write", DOCUMENT];
    [without_report, not_committed, unreadable]
}

/// SAW-16, SAW-31: a person goes on with an agent's work. What the agent has written into the document does not land, and is not
/// followed: the gate is the planned one, in its wave and in the next.
#[tokio::test]
async fn what_a_solo_agent_has_written_into_the_document_counts_for_nothing() {
    for first in writers_of_the_document() {
        let project = project().await;
        let (recorder, actions) = (passing(), first.actions.clone());
        let test = TestRun::new(&project, script(&solo_plan(), &[first, alone("B", "b.txt")])).with_gate(&recorder);
        let (reason, _) = is_blocked(&project, &test).await;
        assert_eq!(reason, BlockReason::AgentFailure);
        let planned = Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
        is_complete(&test.unblock(json!({ "fixed": { "agents": ["A"] } })).await);
        let calls: Vec<_> = recorder.calls().iter().map(|call| call.command.to_string()).collect();
        assert_eq!(calls, ["build all", "test all", "build all", "test all"], "{actions:?}");
        assert!(Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap().has_plan_of(&planned), "{actions:?}");
        assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
    }
}

/// SAW-16, SAW-43: an agent has put a link where the document was. A person has to put the document back, and is asked until then.
/// Nothing is read or written through the link.
#[tokio::test]
async fn a_link_in_place_of_the_document_is_not_followed() {
    let project = project().await;
    let mut first = alone("A", "a.txt");
    first.actions.extend([vec!["sh", "-c", "ln -sf ../README.md docs/IMPL-stats.md"], vec!["commit"]]);
    let (test, reason, _) = first_does(&project, first, vec![]).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    let fixed = json!({ "fixed": { "agents": ["A"] } });
    let ended = test.unblock(fixed.clone()).await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    let (question, base) = (test.question().await, project.git(&["rev-parse", "main"]));
    let said = format!("`{DOCUMENT}` in the staging worktree is no file: put back the one of {}", base.trim());
    assert_eq!(question.problems.last(), Some(&said));
    git(Path::new(&question.staging), &["checkout", "-q", base.trim(), "--", DOCUMENT]);
    is_complete(&test.unblock(fixed).await);
    assert_eq!(project.file("main", "README.md"), "# Small\n");
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
}

/// SAW-16, SAW-45: an agent that cannot implement a contract has also made the document unreadable. With the revised contract it
/// works again, on the document of the target branch.
#[tokio::test]
async fn a_solo_agent_that_breaks_the_document_works_again() {
    let project = project().await;
    let mut first = alone("A", "a.txt");
    first.actions.insert(0, vec!["write", DOCUMENT]);
    first.report["status"] = json!("blocked");
    first.report["interface_deviations"] =
        json!([{ "description": "`greet` needs a name", "downstream_action_required": false, "affects": [] }]);
    let (test, reason, _) = first_does(&project, first, vec![alone("A", "a.txt")]).await;
    assert_eq!(reason, BlockReason::Contract);
    edit(&project, "fn greet()", "fn greet(name)");
    is_complete(&test.unblock(json!("revised")).await);
    assert_eq!(test.unplayed(), 0);
}

/// SAW-105, CON-153: killed after any node has ended or noted something, the run reaches the same result.
#[tokio::test]
async fn a_solo_wave_that_is_killed_anywhere_comes_to_the_same() {
    for moment in 1.. {
        let project = project().await;
        let turns = [alone("A", "a.txt"), alone("B", "b.txt")];
        let test = TestRun::new(&project, script_again(&solo_plan(), &turns)).with_gate(&passing());
        assert!(matches!(test.start().await, Outcome::Waiting { .. }));
        test.answer(&ReviewAnswer::Approve { acknowledge_caveats: false }).await;
        assert!(test.resume_until(moment).is_none());
        // The second wave repeats the nodes of the first.
        let is_over = project.file("main", DOCUMENT).contains("waves_verified: 1\n");
        is_complete(&test.resume().await);
        let subjects = project.git(&["log", "--first-parent", "--format=%s", "main"]);
        assert_eq!(subjects.lines().filter(|subject| *subject == "work").count(), 2, "{moment}: {subjects}");
        assert_eq!(project.git(&["reflog", "main", "--format=%s"]).lines().count(), 4, "{moment}");
        assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
        if is_over {
            // Each node of a wave from the review on, and states.
            assert!(moment >= 8, "{moment}");
            break;
        }
    }
}
