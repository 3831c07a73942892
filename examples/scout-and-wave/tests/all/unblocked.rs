//! How a person resolves a blocked wave.

use crate::project::{Project, git};
use crate::small::{Turn, is_blocked, passing, plan, project, script, script_telling_later, turn, turns, two_waves};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use interlocking::toolchain::{CommandLine, Recorder};
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{BlockedQuestion, SawResult};
use scout_and_wave::protocol::state::BlockReason;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Turns of a wave whose first agent does this first, and behaves correctly the second time.
fn with_another(first: Turn) -> [Turn; 3] {
    [first, turn("B", "b.txt"), turn("A", "a.txt")]
}

pub(crate) fn partial() -> Turn {
    let mut first = turn("A", "a.txt");
    first.report["status"] = json!("partial");
    first.actions = vec![vec!["write", "draft.txt"], vec!["commit"]];
    first
}

pub(crate) fn is_complete(ended: &Outcome<SawResult>) {
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
}

/// SAW-43, SAW-44, SAW-33, CON-156: one agent works again, in a new worktree of the same name; the other does not.
#[tokio::test]
async fn an_agent_is_sent_to_work_again() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &with_another(partial()))).with_gate(&passing());
    let (reason, _) = is_blocked(&project, &test).await;
    assert_eq!(reason, BlockReason::AgentFailure);
    is_complete(&test.unblock(json!({ "rerun": { "agents": ["A"] } })).await);
    assert_eq!((test.unplayed(), test.started().iter().filter(|node| *node == "implement").count()), (0, 3));
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
    assert!(
        !project.git(&["ls-tree", "-r", "--name-only", "main"]).contains("draft.txt"),
        "its first work is not merged"
    );
    let states = test.states();
    assert_eq!(states[3..6], ["WAVE_EXECUTING", "BLOCKED (AgentFailure)", "WAVE_EXECUTING"]);
}

/// SAW-43, SAW-17, CON-110: an agent reports that it did not commit. Its files are still in its worktree: a person
/// commits them, and the wave goes on with them. SAW-13, SAW-74: what it reports of a file of nobody, which a person
/// corrects in the document, and of a deviation counts then, too: the next wave does not begin before the affected
/// agent is told.
#[tokio::test]
async fn a_person_finishes_an_agents_work() {
    let project = project().await;
    let mut first = turn("A", "a.txt");
    first.actions = vec![vec!["write", "other.txt"], vec!["commit"], vec!["write", "a.txt"]];
    first.report["commit"] = json!("uncommitted");
    first.report["out_of_scope_deps"] = json!([{ "file": "other.txt", "change": "new", "reason": "a" }]);
    first.report["interface_deviations"] =
        json!([{ "description": "greet takes a name", "downstream_action_required": true, "affects": ["C"] }]);
    let test = TestRun::new(&project, script(&two_waves(), &[first, turn("B", "b.txt")])).with_gate(&passing());
    let (reason, problems) = is_blocked(&project, &test).await;
    assert_eq!((reason, problems.len()), (BlockReason::AgentFailure, 1));
    assert!(problems[0].starts_with("wave1-agent-a: I5 is broken: agent A did not commit `a.txt`; "), "{problems:?}");
    let own = worktree_of_a(&project);
    assert_eq!(git(&own, &["status", "--porcelain"]), "?? a.txt\n");
    git(&own, &["add", "."]);
    git(&own, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "By hand"]);
    let record = PathBuf::from(test.question().await.staging).join(DOCUMENT);
    let text = std::fs::read_to_string(&record).unwrap();
    assert_eq!(text.matches("reason: a\n").count(), 1, "{text}");
    std::fs::write(&record, text.replace("reason: a\n", "reason: needed\n")).unwrap();
    let ended = test.unblock(json!({ "fixed": { "agents": ["A"] } })).await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    let BlockedQuestion { wave: 2, reason: BlockReason::Contract, problems, .. } = test.question().await else {
        panic!("{:?}", test.question().await)
    };
    let said = "agent A departed from a contract (greet takes a name), and the section of agent C is as it was before: change it";
    assert_eq!(problems, [said]);
    assert_eq!(project.file("main", "a.txt"), "by agent A of wave 1\n");
    let text = project.file("main", DOCUMENT);
    assert!(text.contains("A person has finished this by hand.\n"), "{text}");
    assert!(text.contains("- Agent A: it touched `other.txt`, which is not its own: needed\n"), "{text}");
    assert_eq!(test.started().iter().filter(|node| *node == "implement").count(), 2);
}

/// SAW-43, SAW-44: what a person has put right stays, if another agent is sent to work again afterwards.
#[tokio::test]
async fn what_a_person_has_put_right_stays_while_others_work_again() {
    let project = project().await;
    let mut first = turn("B", "b.txt");
    first.report["status"] = json!("partial");
    let turns = [turn("A", "a.txt"), first, turn("B", "b.txt")];
    let test = TestRun::new(&project, script(&plan(), &turns)).with_gate(&passing());
    is_blocked(&project, &test).await;
    let own = worktree_of_a(&project);
    std::fs::write(own.join("a.txt"), "by hand\n").unwrap();
    git(&own, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "By hand"]);
    let ended = test.unblock(json!({ "fixed": { "agents": ["A"] } })).await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    is_complete(&test.unblock(json!({ "rerun": { "agents": ["B"] } })).await);
    assert_eq!(project.file("main", "a.txt"), "by hand\n");
    assert_eq!((test.unplayed(), test.started().iter().filter(|node| *node == "implement").count()), (0, 3));
}

/// The worktree of agent A.
fn worktree_of_a(project: &Project) -> PathBuf {
    let listed = project.git(&["worktree", "list", "--porcelain"]);
    let of_agent = listed.split("\n\n").find(|entry| entry.ends_with("branch refs/heads/wave1-agent-a")).unwrap();
    PathBuf::from(of_agent.lines().next().unwrap().strip_prefix("worktree ").unwrap())
}

/// SAW-17, SAW-43: a person says that an agent's work is finished, and has not committed all of it. The files are named and kept,
/// and nothing is merged before they are committed or removed.
#[tokio::test]
async fn a_person_who_forgets_to_commit_is_asked_again() {
    let project = project().await;
    let mut first = turn("A", "a.txt");
    first.actions.push(vec!["write", "left.txt"]);
    let test = TestRun::new(&project, script(&plan(), &[first, turn("B", "b.txt")])).with_gate(&passing());
    is_blocked(&project, &test).await;
    let own = worktree_of_a(&project);
    std::fs::write(own.join("a.txt"), "by hand\n").unwrap();
    let ended = test.unblock(json!({ "fixed": { "agents": ["A"] } })).await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    let said =
        "the worktree of `wave1-agent-a` has changes that are not committed: commit or remove `a.txt`, `left.txt`";
    assert_eq!(test.question().await.problems.last().unwrap(), said);
    assert_eq!(project.git(&["log", "--all", "--merges", "--format=%s"]), "");
    std::fs::remove_file(own.join("left.txt")).unwrap();
    git(&own, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "By hand"]);
    is_complete(&test.unblock(json!({ "fixed": { "agents": ["A"] } })).await);
    assert_eq!(project.file("main", "a.txt"), "by hand\n");
}

/// SAW-17, SAW-43: a person has left the branch in an agent's worktree. What is there, committed or not, would be left out, so the
/// person is asked again, also about an agent that was descoped before, and has no report.
#[tokio::test]
async fn a_person_who_leaves_the_branch_is_asked_again() {
    let mut malformed = turn("A", "a.txt");
    malformed.report["verification"] = json!("all is well");
    let mut second = turn("B", "b.txt");
    second.report["status"] = json!("partial");
    let project = project().await;
    let turns = [malformed, second.clone(), second];
    let test = TestRun::new(&project, script(&plan(), &turns)).with_gate(&passing());
    is_blocked(&project, &test).await;
    let own = worktree_of_a(&project);
    git(&own, &["switch", "-q", "--detach"]);
    std::fs::write(own.join("a.txt"), "by hand\n").unwrap();
    git(&own, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "By hand"]);
    let said = "the worktree of `wave1-agent-a` is not on its branch: `git switch wave1-agent-a` there, and commit";
    for before in [None, Some(json!({ "descope": { "agents": ["A"] } })), Some(json!({ "rerun": { "agents": ["B"] } }))]
    {
        if let Some(answer) = before {
            assert!(matches!(test.unblock(answer).await, Outcome::Waiting { .. }));
        }
        let ended = test.unblock(json!({ "fixed": { "agents": ["A", "B"] } })).await;
        assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
        assert_eq!(test.question().await.problems.last().unwrap(), said);
    }
    let commit = git(&own, &["rev-parse", "HEAD"]);
    git(&own, &["switch", "-q", "wave1-agent-a"]);
    git(&own, &["merge", "-q", "--ff-only", commit.trim()]);
    is_complete(&test.unblock(json!({ "fixed": { "agents": ["A", "B"] } })).await);
    assert_eq!(project.file("main", "a.txt"), "by hand\n");
}

/// SAW-43: the wave goes on without an agent. Its lines are not added, and the document says so. An answer that names no agent of
/// the wave, or all of them, is asked for again.
#[tokio::test]
async fn an_agent_is_descoped() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &[partial(), turn("B", "b.txt")])).with_gate(&passing());
    is_blocked(&project, &test).await;
    for (agents, problem) in
        [(json!(["Z"]), "wave 1 has no agent Z"), (json!(["A", "B"]), "no agent would be left: stop the run instead")]
    {
        let ended = test.unblock(json!({ "descope": { "agents": agents } })).await;
        assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
        assert_eq!(test.question().await.problems.last().unwrap(), problem);
    }
    is_complete(&test.unblock(json!({ "descope": { "agents": ["A"] } })).await);
    assert_eq!(project.file("main", "list.txt"), "one\nthree\n");
    let files = project.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files, "README.md\nb.txt\ndocs/IMPL-stats.md\nlist.txt\nshared.txt\n");
    let text = project.file("main", DOCUMENT);
    assert!(text.contains("### Wave 1 - Descoped\n\n- Agent A: nothing of it is merged\n"), "{text}");
}

/// SAW-43, SAW-44, SAW-63: neither agent is complete. An answer about one agent does not decide about the other, whose work is
/// not merged before it is decided on.
#[tokio::test]
async fn an_answer_decides_about_the_agents_that_it_names_and_no_others() {
    let project = project().await;
    let mut second = turn("B", "b.txt");
    second.report["verification"] = json!("FAIL (true - 0/1 tests)");
    let test = TestRun::new(&project, script(&plan(), &[partial(), second])).with_gate(&passing());
    let (_, problems) = is_blocked(&project, &test).await;
    assert_eq!(problems.len(), 2);
    for (answer, open) in [
        (json!({ "fixed": { "agents": [] } }), &["A", "B"][..]),
        (json!({ "fixed": { "agents": ["A"] } }), &["B"]),
        (json!({ "descope": { "agents": ["A"] } }), &["B"]),
    ] {
        assert!(matches!(test.unblock(answer).await, Outcome::Waiting { .. }));
        let problems = test.question().await.problems;
        let said = open.iter().map(|letter| format!("agent {letter} has not completed its work: name it, too"));
        assert!(problems.ends_with(&said.collect::<Vec<_>>()), "{problems:?}");
        assert_eq!(project.git(&["log", "--all", "--merges", "--format=%s"]), "");
    }
    is_complete(&test.unblock(json!({ "fixed": { "agents": ["B"] } })).await);
    let files = project.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files, "README.md\nb.txt\ndocs/IMPL-stats.md\nlist.txt\nshared.txt\n");
    assert!(project.file("main", DOCUMENT).contains("### Wave 1 - Descoped\n\n- Agent A: nothing of it is merged\n"));
}

/// SAW-43, SAW-44: an agent that has never reported can be descoped too, or is asked about.
#[tokio::test]
async fn an_agent_without_a_report_is_decided_about_too() {
    let project = project().await;
    let mut plan = plan();
    let mut third = plan["waves"][0]["agents"][1].clone();
    (third["agent"], third["creates"]) = (json!("C"), json!(["c.txt"]));
    plan["waves"][0]["agents"].as_array_mut().unwrap().push(third);
    // The script has no turn for C.
    let test = TestRun::new(&project, script(&plan, &[partial(), turn("B", "b.txt")])).with_gate(&passing());
    is_blocked(&project, &test).await;
    assert!(matches!(test.unblock(json!({ "descope": { "agents": ["A"] } })).await, Outcome::Waiting { .. }));
    let said = "agent C has not completed its work: name it, too";
    assert_eq!(test.question().await.problems.last().unwrap(), said);
    is_complete(&test.unblock(json!({ "descope": { "agents": ["C"] } })).await);
    assert!(project.file("main", DOCUMENT).contains("- Agent C: nothing of it is merged\n"));
}

/// SAW-45: a contract cannot be implemented. It is revised in the document, with the prompts of the agents that have it; an agent
/// with a changed prompt works again, and an agent with the same prompt does not.
#[tokio::test]
async fn a_contract_is_revised() {
    let project = project().await;
    let mut plan = plan();
    plan["contracts"][0]["called_by"] = json!([]);
    let mut first = turn("A", "a.txt");
    first.actions.clear();
    (first.report["status"], first.report["files_created"]) = (json!("blocked"), json!([]));
    first.report["interface_deviations"] =
        json!([{ "description": "`greet` needs a name", "downstream_action_required": false, "affects": [] }]);
    // Its second turn matches only the revised section.
    let script = script_telling_later(&plan, &[first, turn("B", "b.txt")], &[turn("A", "a.txt")], "fn greet(name)");
    let test = TestRun::new(&project, script).with_gate(&passing());
    let (reason, problems) = is_blocked(&project, &test).await;
    assert_eq!(
        (reason, &problems[..]),
        (BlockReason::Contract, &["wave1-agent-a reports `blocked`: `greet` needs a name".to_owned()][..])
    );
    edit(&project, "fn greet()", "fn greet(name)");
    let hash = Impl::read("IMPL.md", &project.file("main", DOCUMENT)).unwrap().contracts_hash;
    is_complete(&test.unblock(json!("revised")).await);
    let implemented = test.started().iter().filter(|node| *node == "implement").count();
    assert_eq!((test.unplayed(), implemented), (0, 3), "A twice, B once");
    let read = Impl::read("IMPL.md", &project.file("main", DOCUMENT)).unwrap();
    assert_eq!(read.status.contracts, Some(hash), "SAW-36: frozen are those that were revised");
}

/// SAW-33, SAW-31: a person fixes what the gate found, and it runs again.
#[tokio::test]
async fn a_gate_passes_once_a_person_has_put_it_right() {
    let project = project().await;
    let build = CommandLine::new("build", &["all"]);
    let failing =
        Recorder::new().answer(build.clone(), Recorder::exit(1, "no")).answer(build, Recorder::exit(1, "still no"));
    let recorder = Arc::new(failing.with_default_answer(Recorder::exit(0, "")));
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&recorder);
    is_blocked(&project, &test).await;
    assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
    let question = test.question().await;
    assert_eq!(question.problems, ["`build all` fails:\nstill no"]);
    std::fs::write(std::path::Path::new(&question.staging).join("shared.txt"), "put right\n").unwrap();
    is_complete(&test.unblock(json!("fixed")).await);
    assert_eq!(project.file("main", "shared.txt"), "put right\n");
    let states = test.states();
    assert_eq!(states[states.len() - 4..], ["WAVE_MERGING", "BLOCKED (Verification)", "WAVE_VERIFIED", "COMPLETE"]);
}

/// SAW-31: the gate is taken out of the document while the run waits. Without one nothing is verified.
#[tokio::test]
async fn a_wave_without_a_gate_is_not_verified() {
    let project = project().await;
    let build = CommandLine::new("build", &["all"]);
    let recorder = Recorder::new().answer(build, Recorder::exit(1, "no")).with_default_answer(Recorder::exit(0, ""));
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&Arc::new(recorder));
    is_blocked(&project, &test).await;
    let (gate, none) = ("gate:\n  - [build, all]\n  - [test, all]\n", "gate: []\n");
    edit(&project, gate, none);
    assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
    let problems = test.question().await.problems;
    assert!(matches!(&problems[..], [problem] if problem.starts_with("there is no gate: ")), "{problems:?}");
    edit(&project, none, gate);
    is_complete(&test.unblock(json!("fixed")).await);
}
