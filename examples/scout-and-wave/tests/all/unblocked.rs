//! How a person resolves a blocked wave.

use crate::project::{Project, git};
use crate::small::{Turn, is_blocked, passing, plan, project, script, script_telling_later, turn, turns, two_waves};
use crate::stopped::edit;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use interlocking::toolchain::{CommandLine, Recorder};
use scout_and_wave::document::Impl;
use scout_and_wave::graph::{BlockedQuestion, ReviewAnswer, SawResult};
use scout_and_wave::protocol::state::BlockReason;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// SAW-109: while the run waits for a person, the document is edited and committed. The commit is merged before the gate runs
/// again, so the landed commit is verified, and the edit is in it.
#[tokio::test]
async fn what_is_committed_while_a_run_waits_is_verified_too() {
    let project = project().await;
    let build = CommandLine::new("build", &["all"]);
    let recorder = Recorder::new().answer(build, Recorder::exit(1, "no")).with_default_answer(Recorder::exit(0, ""));
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&Arc::new(recorder));
    is_blocked(&project, &test).await;
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
    let build = CommandLine::new("build", &["all"]);
    let recorder = Recorder::new().answer(build, Recorder::exit(1, "no")).with_default_answer(Recorder::exit(0, ""));
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&Arc::new(recorder));
    is_blocked(&project, &test).await;
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
    let build = CommandLine::new("build", &["all"]);
    let recorder = Recorder::new().answer(build, Recorder::exit(1, "no")).with_default_answer(Recorder::exit(0, ""));
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&Arc::new(recorder));
    is_blocked(&project, &test).await;
    std::fs::write(project.root().join("a.txt"), "theirs\n").unwrap();
    project.git(&["add", "a.txt"]);
    edit(&project, "# IMPL: Two files", "# IMPL: Two good files");
    assert!(matches!(test.unblock(json!("fixed")).await, Outcome::Waiting { .. }));
    let question = test.question().await;
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
    let way = "change `main`, or merge it in the staging worktree and commit that";
    assert!(problems[0].ends_with(way), "{problems:?}");
    assert!(git(&["commit", "-qm", "Both"]));
    is_complete(&test.unblock(json!("fixed")).await);
    assert_eq!(project.file("main", "a.txt"), "both\n");
    let subjects = project.git(&["log", "--first-parent", "--format=%s", "-2", "main"]);
    assert_eq!(subjects, "docs: wave 1 is verified\nBoth\n");
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
