//! Quick mode: two or three agents on files of their own, without the rest of the protocol.

use crate::project::{Project, git};
use crate::small::{passing, project};
use crate::test_run::TestRun;
use interlocking::agents::Script;
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use interlocking::toolchain::{CommandLine, Recorder, Toolchain};
use scout_and_wave::graph::SawResult;
use scout_and_wave::protocol::quick::QuickPlan;
use scout_and_wave::quick::QuickStop;
use scout_and_wave::request::Request;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// Each agent owns a file, `a.txt` and so on.
fn declared(files: &[&str]) -> Value {
    let agents: Vec<_> = files
        .iter()
        .map(|file| json!({ "files": [file], "task": format!("Write {file}."), "verification": [["true"]] }))
        .collect();
    json!({ "agents": agents, "gate": [["build", "all"]] })
}

fn plan(value: Value) -> QuickPlan {
    serde_json::from_value(value).unwrap()
}

/// An agent, the files that it writes, and whether it commits them.
type Does = (&'static str, &'static [(&'static str, &'static str)], bool);

/// Each agent writes these files, and commits them if `Does` says so.
fn script(agents: &[Does]) -> Script {
    let mut text = String::new();
    for (agent, files, commits) in agents {
        _ = writeln!(text, "[[turn]]\nagent = \"agent\"\ncontains = [\"You are agent {agent}\\n\"]");
        _ = writeln!(text, "output_json = '''{}'''", json!({ "summary": format!("{agent} is done") }));
        for (path, content) in *files {
            _ = writeln!(text, "[[turn.write]]\npath = \"{path}\"\ncontent = \"{content}\\n\"");
        }
        if *commits {
            text.push_str("[[turn.commit]]\nmessage = \"work\"\n");
        }
    }
    Script::parse("a test's script", &text).unwrap()
}

async fn quick(project: &Project, plan: QuickPlan, script: Script, gate: &Arc<Recorder>) -> (SawResult, Vec<String>) {
    let test = TestRun::new(project, script).with_gate(gate);
    let ended = test.begin(Request::Quick { plan }).await;
    let Outcome::Finished(result) = ended else { panic!("{ended:?}") };
    assert_eq!(test.unplayed(), 0, "somebody was not asked");
    (result, test.started())
}

fn stopped(result: SawResult) -> (QuickStop, Vec<String>) {
    let SawResult::QuickStopped { reason, problems } = result else { panic!("{result:?}") };
    (reason, problems)
}

const INSTEAD: &str = "quick mode has no more than disjoint files: use the full protocol, with `run --task`";

/// SAW-91, SAW-92: three agents at once; their work lands, after one gate, without a document and without reports. Uncommitted
/// work of an agent is committed for it: I5 is not enforced.
#[tokio::test]
async fn three_agents_land_without_a_document() {
    let project = project().await;
    let agents: [Does; 3] =
        [("A", &[("a.txt", "a")], true), ("B", &[("b.txt", "b")], false), ("C", &[("c.txt", "c")], true)];
    let gate = passing();
    let (result, started) = quick(&project, plan(declared(&["a.txt", "b.txt", "c.txt"])), script(&agents), &gate).await;
    let SawResult::QuickComplete { agents, commit } = result else { panic!("{result:?}") };
    assert_eq!(agents.iter().map(|agent| agent.as_str()).collect::<String>(), "ABC");
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), commit.to_string());
    assert_eq!(
        project.git(&["ls-tree", "-r", "--name-only", "main"]),
        "README.md\na.txt\nb.txt\nc.txt\nlist.txt\nshared.txt\n"
    );
    let subjects = project.git(&["log", "--first-parent", "--format=%s", "main"]);
    assert_eq!(subjects, "Merge quick-agent-c\nMerge quick-agent-b\nMerge quick-agent-a\nBegin\n");
    assert!(project.git(&["log", "--format=%s", "main"]).contains("Work of quick-agent-b\n"));
    assert_eq!(started.iter().filter(|node| *node == "work").count(), 3);
    let own: Vec<_> = started.iter().filter(|node| *node != "work").collect();
    assert_eq!(own, ["command", "quick_check", "quick", "quick_merge", "quick_verify"]);
    assert_eq!(gate.calls().len(), 1, "the gate runs once, on everything");
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n");
}

/// TC-23: the user's own commands are the gate, whatever the declaration says.
#[tokio::test]
async fn a_configured_gate_counts_in_quick_mode_too() {
    let (project, gate) = (project().await, passing());
    let agents: [Does; 2] = [("A", &[("a.txt", "a")], true), ("B", &[("b.txt", "b")], true)];
    let mine = CommandLine::new("mine", &["all"]);
    let toolchain = Toolchain { build_command: mine.clone(), test_command: mine, ..Toolchain::default() };
    let test = TestRun::new(&project, script(&agents)).with_gate(&gate).with_toolchain(toolchain);
    let ended = test.begin(Request::Quick { plan: plan(declared(&["a.txt", "b.txt"])) }).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::QuickComplete { .. })), "{ended:?}");
    assert_eq!(gate.calls().iter().map(|call| call.command.to_string()).collect::<Vec<_>>(), ["mine all"]);
}

/// SAW-91: one agent or four are refused. SAW-93: so are two that own one file, before any is launched.
#[tokio::test]
async fn what_is_not_for_quick_mode_is_refused() {
    let count = |found| format!("quick mode is for 2 or 3 agents, and there are {found}");
    let mut empty = declared(&["a.txt", "b.txt"]);
    empty["agents"][1] = json!({ "files": [], "task": " ", "verification": [] });
    empty["gate"] = json!([]);
    let cases = [
        (declared(&["a.txt"]), vec![count(1)]),
        (declared(&["a.txt", "b.txt", "c.txt", "d.txt"]), vec![count(4)]),
        (
            declared(&["a.txt", "b.txt", "a.txt"]),
            vec!["agents A and C both own `a.txt`: give it to one of them".to_owned()],
        ),
        (
            empty,
            vec![
                "agent B owns no file: give it some, or take it out".to_owned(),
                "agent B has no task: write what it has to do".to_owned(),
                "there is no gate: name the commands that build and test the whole project".to_owned(),
            ],
        ),
    ];
    for (declared, mut expected) in cases {
        let project = project().await;
        let before = project.git(&["for-each-ref"]);
        let (result, started) = quick(&project, plan(declared), script(&[]), &passing()).await;
        expected.push(INSTEAD.to_owned());
        assert_eq!(stopped(result), (QuickStop::Refused, expected));
        assert_eq!(started, ["command", "quick_check"]);
        assert_eq!(project.git(&["for-each-ref"]), before);
    }
}

/// SAW-94: two agents that change the same lines, one of them in a file that it does not own; the message says what to do
/// instead. Nothing lands.
#[tokio::test]
async fn a_conflict_tells_to_use_the_full_protocol() {
    let project = project().await;
    let agents: [Does; 2] =
        [("A", &[("shared.txt", "mine")], true), ("B", &[("b.txt", "b"), ("shared.txt", "no, mine")], true)];
    let before = project.git(&["rev-parse", "main"]);
    let (result, started) =
        quick(&project, plan(declared(&["shared.txt", "b.txt"])), script(&agents), &passing()).await;
    let (reason, problems) = stopped(result);
    let [conflict, instead] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!((reason, instead.as_str()), (QuickStop::Conflict, INSTEAD));
    assert!(conflict.starts_with("quick-agent-b cannot be merged: ") && conflict.contains("shared.txt"), "{conflict}");
    assert!(!started.contains(&"quick_verify".to_owned()));
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    assert_eq!(project.git(&["status", "--porcelain"]), "");
}

/// SAW-93: a file without an owner that one agent touches is not checked: only conflicts are.
#[tokio::test]
async fn nothing_but_conflicts_is_looked_at() {
    let project = project().await;
    let agents: [Does; 2] = [("A", &[("a.txt", "a"), ("stray.txt", "a")], true), ("B", &[("b.txt", "b")], true)];
    let (result, _) = quick(&project, plan(declared(&["a.txt", "b.txt"])), script(&agents), &passing()).await;
    assert!(matches!(result, SawResult::QuickComplete { .. }), "{result:?}");
    assert_eq!(project.file("main", "stray.txt"), "a\n");
}

/// A gate that fails, and an agent that does nothing: nothing lands, and the reason is given.
#[tokio::test]
async fn what_fails_does_not_land() {
    let both: [Does; 2] = [("A", &[("a.txt", "a")], true), ("B", &[("b.txt", "b")], true)];
    let idle: [Does; 2] = [("A", &[("a.txt", "a")], true), ("B", &[], false)];
    let failing = Arc::new(Recorder::new().with_default_answer(Recorder::exit(1, "no such thing")));
    let cases = [
        (both, failing, QuickStop::Verification, "`build all` fails:"),
        (idle, passing(), QuickStop::AgentFailure, "quick-agent-b changed nothing: B is done"),
    ];
    for (agents, gate, reason, said) in cases {
        let project = project().await;
        let before = project.git(&["rev-parse", "main"]);
        let (result, _) = quick(&project, plan(declared(&["a.txt", "b.txt"])), script(&agents), &gate).await;
        let (why, problems) = stopped(result);
        assert_eq!(why, reason);
        assert!(problems[0].starts_with(said), "{problems:?}");
        assert_eq!(project.git(&["rev-parse", "main"]), before);
    }
}

/// SAW-94: somebody commits on the target branch while agents work. Both are merged and go through the gate, or the run
/// ends with the conflict.
#[tokio::test]
async fn a_target_that_moves_under_way_is_merged() {
    for (file, is_conflict) in [("theirs.txt", false), ("a.txt", true)] {
        let project = project().await;
        let agents: [Does; 2] = [("A", &[("a.txt", "a")], true), ("B", &[("b.txt", "b")], true)];
        let test = TestRun::new(&project, script(&agents)).with_gate(&passing());
        let root = project.root();
        let commits = move |kind: &EventKind| {
            if matches!(kind, EventKind::NodeFinished { node, .. } if node.node == *"quick") {
                std::fs::write(root.join(file), "theirs\n").unwrap();
                git(&root, &["add", file]);
                git(&root, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "Theirs"]);
            }
            false
        };
        let request = Request::Quick { plan: plan(declared(&["a.txt", "b.txt"])) };
        let ended = test.until_told(Some(request), commits).expect("nobody kills it");
        let Outcome::Finished(result) = ended else { panic!("{ended:?}") };
        assert_eq!(project.file("main", file), "theirs\n");
        if is_conflict {
            let (reason, problems) = stopped(result);
            assert_eq!((reason, problems.len()), (QuickStop::Conflict, 2), "{problems:?}");
            assert!(problems[0].starts_with("`main` has moved to ") && problems[0].contains("a.txt"), "{problems:?}");
        } else {
            assert!(matches!(result, SawResult::QuickComplete { .. }), "{result:?}");
            assert_eq!(project.file("main", "a.txt"), "a\n");
        }
    }
}
