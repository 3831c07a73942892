//! Conditions that stop a run before a wave is launched.

use crate::project::{Project, git};
use crate::small::{blocks, passing, plan, project, script, script_for, turns};
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::agents::Script;
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use scout_and_wave::graph::{ReviewAnswer, SawResult};
use scout_and_wave::protocol::state::BlockReason;
use scout_and_wave::protocol::suitability::Precondition;
use serde_json::{Value, json};

/// Replaces a passage of the document on `main`, like a person who edits and commits it.
pub(crate) fn edit(project: &Project, find: &str, with: &str) {
    let path = project.root().join(DOCUMENT);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(find), "{find:?} is not in the document");
    std::fs::write(&path, text.replace(find, with)).unwrap();
    project.git(&["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "Edit the plan"]);
}

fn has_no_worktrees(project: &Project) {
    assert_eq!(project.git(&["worktree", "list"]).lines().filter(|line| line.contains("wave")).count(), 0);
    assert!(!project.git(&["for-each-ref"]).contains("wave1"), "no branch was made");
}

/// A change of the plan that breaks a precondition.
type Fail = fn(&mut Value);

/// Each precondition, with a change that breaks only this one.
const FAIL: [(Precondition, Fail); 5] = [
    (Precondition::FileDecomposition, |plan| plan["waves"][0]["agents"][1]["creates"] = json!(["a.txt"])),
    (Precondition::NoInvestigation, |plan| plan["investigations"] = json!(["why it is slow"])),
    (Precondition::Interfaces, |plan| plan["open_interfaces"] = json!(["what greets"])),
    (Precondition::Findings, |plan| plan["findings"] = json!([{ "id": "F1", "what": "slow" }])),
    (Precondition::WorthIt, |plan| plan["estimates"]["sequential"] = json!(1)),
];

/// SAW-10, SAW-11, SAW-56, SAW-107: if preconditions fail, one or all, the verdict names exactly those, no prompt is written, the
/// run ends, and neither a person is asked nor an agent launched.
#[tokio::test]
async fn a_task_that_is_not_suitable_ends_with_the_verdict() {
    for failing in FAIL.chunks(1).chain([&FAIL[..]]) {
        let project = project().await;
        let mut plan = plan();
        failing.iter().for_each(|(_, fail)| fail(&mut plan));
        let test = TestRun::new(&project, script(&plan, &turns()));
        let ended = test.start().await;
        let Outcome::Finished(SawResult::NotSuitable { failed }) = ended else { panic!("{ended:?}") };
        let failed: Vec<_> = failed.iter().map(|failed| failed.precondition).collect();
        assert_eq!(failed, failing.iter().map(|(precondition, _)| *precondition).collect::<Vec<_>>());
        assert_eq!(test.started(), ["command", "scout", "suit"]);
        assert_eq!(test.states(), ["SCOUTING", "NOT_SUITABLE"]);
        let text = project.file("main", DOCUMENT);
        assert!(text.contains("verdict: NOT SUITABLE\n") && !text.contains("Prompt"), "{text}");
        has_no_worktrees(&project);
    }
}

/// SAW-02, CON-154: a scout that writes, even if it is the document, fails its node, and its changes are discarded. The
/// orchestrator writes what the scout returns.
#[tokio::test]
async fn a_scout_that_writes_is_refused() {
    for file in ["README.md", DOCUMENT] {
        let project = project().await;
        let script = script_of_a_writer(&plan(), file);
        let Outcome::Failed(failure) = TestRun::new(&project, script).start().await else { panic!() };
        assert_eq!(failure.node, "scout");
        assert!(failure.message.contains(file), "{}", failure.message);
        assert_eq!(project.git(&["log", "--format=%s", "main"]), "Begin\n");
    }
    let project = project().await;
    assert!(matches!(TestRun::new(&project, script(&plan(), &[])).start().await, Outcome::Waiting { .. }));
    let written = project.git(&["log", "--format=%an", "--name-only", "-1", "main"]);
    assert_eq!(written, format!("Orchestrator\n\n{DOCUMENT}\n"));
}

/// A scout that returns this, and writes a file.
pub(crate) fn script_of_a_writer(returns: &Value, file: &str) -> Script {
    let text = format!(
        "[[turn]]\nagent = \"scout\"\noutput_json = '''{returns}'''\n[[turn.write]]\npath = \"{file}\"\ncontent = \"mine\"\n"
    );
    Script::parse("a test's script", &text).unwrap()
}

/// SAW-22, CON-108: caveats have to be acknowledged.
#[tokio::test]
async fn caveats_are_acknowledged_or_nobody_is_launched() {
    for acknowledge_caveats in [false, true] {
        let project = project().await;
        let mut plan = plan();
        plan["caveats"] = json!(["untested on Windows"]);
        let test = TestRun::new(&project, script(&plan, &turns())).with_gate(&passing());
        assert!(matches!(test.start().await, Outcome::Waiting { .. }));
        test.answer(&ReviewAnswer::Approve { acknowledge_caveats }).await;
        let ended = test.resume().await;
        let Outcome::Finished(ended) = ended else { panic!("{ended:?}") };
        match acknowledge_caveats {
            true => assert!(matches!(ended, SawResult::Complete { waves: 1, .. }), "{ended:?}"),
            false => {
                let SawResult::Declined { reason } = ended else { panic!("{ended:?}") };
                assert!(
                    reason.starts_with("the caveats were not acknowledged: untested on Windows. `wave` goes on"),
                    "{reason}"
                );
                has_no_worktrees(&project);
            }
        }
    }
}

/// SAW-12, SAW-38, SAW-39, SAW-80, SAW-85, SAW-90: a person has made two agents own one file. No worktree is made, whatever files
/// the agents would touch.
#[tokio::test]
async fn an_overlap_stops_the_launch() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    edit(&project, "creates: [b.txt]", "creates: [a.txt, b.txt]");
    let (reason, problems) = blocks(&project, &test).await;
    let said = "I1 is broken: agents A and B of wave 1 both own `a.txt`; so the merge conflicts, or one agent's work undoes another's: give it to one of them, or put them into different waves";
    assert_eq!((reason, problems), (BlockReason::Ownership, vec![said.to_owned()]));
    assert_eq!(test.states().last().unwrap(), "BLOCKED (Ownership)");
    has_no_worktrees(&project);
    // The other check, of the agents' changes, has nothing to check yet.
    assert_eq!(test.started().last().unwrap(), "blocked_contract");
    assert!(!test.started().iter().any(|node| ["agents", "predict"].contains(&node.as_str())));
    // Once this is fixed, the wave begins, and both checks are made.
    edit(&project, "creates: [a.txt, b.txt]", "creates: [b.txt]");
    let ended = test.unblock(json!("revised")).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    let checks: Vec<_> =
        test.started().into_iter().filter(|node| ["pending", "predict"].contains(&node.as_str())).collect();
    assert_eq!(checks, ["pending", "pending", "predict"]);
}

/// SAW-14, SAW-85: a contract is missing in the prompt of an agent that calls it.
#[tokio::test]
async fn a_missing_contract_stops_the_launch() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns()));
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    edit(&project, "signature: fn greet()", "signature: fn greet(name)");
    let (reason, problems) = blocks(&project, &test).await;
    assert_eq!(reason, BlockReason::Contract);
    let said = |agent: &str| {
        format!(
            "I2 is broken: the prompt of agent {agent} has not the signature of the contract `greet`; so interfaces drift apart, and what \
             is integrated does not fit"
        )
    };
    assert_eq!(problems, [said("A"), said("B")]);
    has_no_worktrees(&project);
}

/// SAW-31, SAW-48: a person has taken the gate out of the document, so nothing would be verified.
#[tokio::test]
async fn a_missing_gate_stops_the_launch() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let (gate, none) = ("gate:\n  - [build, all]\n  - [test, all]\n", "gate: []\n");
    edit(&project, gate, none);
    let (reason, problems) = blocks(&project, &test).await;
    let said = "there is no gate: name the commands that build and test the whole project, as `gate` under `## Waves`";
    assert_eq!((reason, problems), (BlockReason::Contract, vec![said.to_owned()]));
    has_no_worktrees(&project);
    edit(&project, none, gate);
    let ended = test.unblock(json!("revised")).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
}

/// SAW-112: a person has removed a file that lines are to be added to, or it is no text. No agent works before it is there.
#[tokio::test]
async fn an_append_only_file_that_is_no_text_stops_the_launch() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let list = project.root().join("list.txt");
    let commit = || project.git(&["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qam", "The list"]);
    std::fs::remove_file(&list).unwrap();
    commit();
    let said = "lines are to be added to `list.txt`, which is not there as text: create it on `main`, or change `append_only` under \
                `## Waves`";
    assert_eq!(blocks(&project, &test).await, (BlockReason::Contract, vec![said.to_owned()]));
    has_no_worktrees(&project);
    std::fs::write(&list, [0xff]).unwrap();
    project.git(&["add", "list.txt"]);
    commit();
    let ended = test.unblock(json!("revised")).await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    assert_eq!(test.question().await.problems, [said]);
    std::fs::write(&list, "one\n").unwrap();
    commit();
    let ended = test.unblock(json!("revised")).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
    assert_eq!(project.file("main", "list.txt"), "one\ntwo\nthree\n");
}

/// SAW-42, CON-102: the agent's prompt contains what a person wrote into its section.
#[tokio::test]
async fn an_agent_is_told_what_stands_in_the_document() {
    let project = project().await;
    // The script has a turn only for prompts with these words.
    let script = script_for(&plan(), &turns(), "And a greeting to it.");
    let test = TestRun::new(&project, script).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    edit(&project, "Write a.txt.", "Write a.txt. And a greeting to it.");
    edit(&project, "Write b.txt.", "Write b.txt. And a greeting to it.");
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
}

/// SAW-111: uncommitted changes stop the launch; once they are gone the run goes on.
#[tokio::test]
async fn a_dirty_working_tree_stops_the_launch() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    let stray = project.root().join("stray.txt");
    std::fs::write(&stray, "mine").unwrap();
    let Outcome::Failed(failure) = test.approve().await else { panic!() };
    assert!(
        failure.message.starts_with(
            "wave 1 does not begin, as the working tree has changes that are not committed: commit or remove them, then resume the run \
             with --retry:\n"
        ) && failure.message.contains("stray.txt"),
        "{}",
        failure.message
    );
    has_no_worktrees(&project);
    std::fs::remove_file(stray).unwrap();
    let ended = test.retry().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
}

/// A document that a person has broken: the message has the location, and what was expected. Once it is fixed, the run goes on.
#[tokio::test]
async fn a_broken_document_is_told_at_its_place() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns())).with_gate(&passing());
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    edit(&project, "waves_verified: 0", "waves_verified: none");
    let Outcome::Failed(failure) = test.approve().await else { panic!() };
    assert!(
        failure.message.contains("docs/IMPL-stats.md:") && failure.message.contains("`waves_verified`: expected"),
        "{}",
        failure.message
    );
    edit(&project, "waves_verified: none", "waves_verified: 0");
    let ended = test.retry().await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 1, .. })), "{ended:?}");
}

/// SAW-85: a wave does not begin if the document says that it is verified already. The error names the invariant and
/// its effect.
#[tokio::test]
async fn a_wave_that_is_verified_does_not_begin() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns()));
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    edit(&project, "waves_verified: 0", "waves_verified: 1");
    let Outcome::Failed(failure) = test.approve().await else { panic!() };
    let said = "I3 is broken: wave 1 was to begin, and by the document the next wave is 2; so what failed in one wave surfaces \
                late, in the next";
    assert!(failure.message.contains(said), "{}", failure.message);
    has_no_worktrees(&project);
}

/// The document of another feature is not overwritten.
#[tokio::test]
async fn a_document_that_is_there_is_not_overwritten() {
    let project = project().await;
    std::fs::create_dir_all(project.root().join("docs")).unwrap();
    std::fs::write(project.root().join(DOCUMENT), "mine").unwrap();
    project.git(&["add", "."]);
    project.git(&["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Mine"]);
    let test = TestRun::new(&project, script(&plan(), &turns()));
    let Outcome::Failed(failure) = test.start().await else { panic!() };
    assert!(failure.message.starts_with("there is a document `docs/IMPL-stats.md` already"), "{}", failure.message);
    assert_eq!((test.started(), test.unplayed()), (vec!["command".to_owned()], 3), "no scout is asked");
}

/// The document of another feature is committed while the scout reads. Once it is gone, the run goes on with the
/// scout's plan.
#[tokio::test]
async fn a_document_that_comes_meanwhile_is_not_overwritten() {
    let project = project().await;
    let test = TestRun::new(&project, script(&plan(), &turns()));
    let root = project.root();
    let commits = move |kind: &EventKind| {
        if matches!(kind, EventKind::NodeFinished { node, .. } if node.node == *"scout") {
            std::fs::create_dir_all(root.join("docs")).unwrap();
            std::fs::write(root.join(DOCUMENT), "mine").unwrap();
            git(&root, &["add", "."]);
            git(&root, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Mine"]);
        }
        false
    };
    let Some(Outcome::Failed(failure)) = test.until_told(Some(TestRun::feature()), commits) else { panic!() };
    assert!(failure.message.contains("`docs/IMPL-stats.md`") && failure.message.contains("--retry"), "{failure}");
    assert_eq!(project.file("main", DOCUMENT), "mine");
    project.git(&["rm", "-q", DOCUMENT]);
    project.git(&["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Mine no longer"]);
    assert!(matches!(test.retry().await, Outcome::Waiting { .. }));
    assert!(project.file("main", DOCUMENT).starts_with("# IMPL: Two files\n"));
}
