//! Bootstrap mode: a project without code.

use crate::project::Project;
use crate::small::{Turn, passing, script, turn};
use crate::stopped::{edit, script_of_a_writer};
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::cli::repository::EmbeddedFile;
use interlocking::prelude::*;
use interlocking::workspaces::FilePath;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::SawResult;
use scout_and_wave::protocol::bootstrap::{BootstrapPlan, refuse_code};
use scout_and_wave::protocol::state::BlockReason;
use scout_and_wave::protocol::suitability::judge;
use scout_and_wave::request::Request;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FILES: [EmbeddedFile; 2] = [
    EmbeddedFile { path: "README.md", contents: "# To be\n" },
    EmbeddedFile { path: ".gitignore", contents: "target\n" },
];

fn agent(letter: &str, file: &str, needs: &[&str]) -> Value {
    json!({
        "agent": letter, "creates": [file], "needs": needs, "task": format!("Write {file}."), "tests": [], "verification": [["true"]],
        "constraints": [], "minutes": 5,
    })
}

fn design() -> Value {
    let mut types = agent("T", "types.txt", &[]);
    types["creates"] = json!(["types.txt", "modules.txt"]);
    json!({
        "architecture": {
            "requirements": ["It greets.", "Assumption: in one language."],
            "packages": [{ "path": "types.txt", "purpose": "what all share" }, { "path": "a.txt", "purpose": "greets" }],
        },
        "types": types,
        "plan": {
            "title": "Greetings",
            "summary": "A project, begun.",
            "waves": [{ "agents": [agent("A", "a.txt", &["types.txt"]), agent("B", "b.txt", &["types.txt"])] }],
            "contracts": [{ "name": "greet", "signature": "greet() -> text", "provided_by": "T", "called_by": ["A", "B"] }],
            "append_only": [{ "file": "modules.txt", "additions": [
                { "agent": "A", "lines": ["a"] }, { "agent": "B", "lines": ["b"] },
            ] }],
            "gate": [["build"]],
            "estimates": { "scout": 1, "merge": 1, "sequential": 30 },
        },
    })
}

/// The agent that makes the types.
fn types_turn() -> Turn {
    let mut types = turn("A", "types.txt");
    types.post = "agent T of wave 0";
    types.actions.insert(0, vec!["write", "modules.txt"]);
    types.report["worktree"] = json!("main");
    types.report["files_created"] = json!(["types.txt", "modules.txt"]);
    types
}

fn request() -> Request {
    Request::Bootstrap { task: "Greetings".to_owned(), document: FilePath::new(DOCUMENT).unwrap() }
}

/// SAW-95, SAW-96, SAW-35, CON-114: the document has the architect's requirements, packages and contracts before there is any
/// code; wave 0 is a single agent, and its work is there when the others begin, concurrently.
#[tokio::test]
async fn a_project_begins_with_its_types() {
    let project = Project::of(&FILES).await;
    let mut turns = vec![types_turn(), turn("A", "a.txt"), turn("B", "b.txt")];
    for turn in &mut turns[1..] {
        turn.actions.insert(0, vec!["test", "-f", "types.txt"]);
    }
    turns[2].actions.insert(0, vec!["test", "!", "-e", "a.txt"]);
    let test = TestRun::new(&project, script(&design(), &turns)).with_gate(&passing());
    assert!(matches!(test.begin(request()).await, Outcome::Waiting { .. }));
    assert_eq!(test.started(), ["command", "architect", "suit", "review"]);
    let text = project.file("main", DOCUMENT);
    let order = [
        "## Requirements\n\n- It greets.\n- Assumption: in one language.\n",
        "## Packages\n\n- `types.txt`: what all share\n",
        "first: 0\n",
        "greet() -> text",
        "### Agent T - Prompt",
    ];
    let places: Vec<_> =
        order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part:?}\n{text}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(project.git(&["ls-tree", "-r", "--name-only", "main"]), format!(".gitignore\nREADME.md\n{DOCUMENT}\n"));

    // SAW-35: a person gives wave 0 another agent. Neither of the two is launched.
    let of_a =
        |needs| format!("      - agent: A\n        changes: []\n        creates: [a.txt]\n        needs: [{needs}]\n");
    let in_wave_1 = format!("  - agents:\n{}", of_a("types.txt"));
    edit(&project, &in_wave_1, &format!("{}  - agents:\n", of_a("")));
    assert!(matches!(test.approve().await, Outcome::Waiting { .. }));
    let question = test.question().await;
    let said = "wave 0 is one agent, which creates the shared types, and the document gives it 2";
    assert_eq!((question.reason, &question.problems[..]), (BlockReason::Contract, &[said.to_owned()][..]));
    assert!(!project.git(&["for-each-ref"]).contains("wave0"));
    edit(&project, &format!("{}  - agents:\n", of_a("")), &in_wave_1);
    let ended = test.unblock(json!("revised")).await;
    assert!(matches!(ended, Outcome::Finished(SawResult::Complete { waves: 2, .. })), "{ended:?}");
    assert_eq!(test.unplayed(), 0);
    let launched: Vec<_> =
        test.started().into_iter().filter(|node| ["solo", "agents", "implement"].contains(&node.as_str())).collect();
    assert_eq!(launched, ["solo", "agents", "implement", "implement"]);
    assert_eq!(project.file("main", "modules.txt"), "by agent T of wave 0\na\nb\n");
    assert_eq!(Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap().status.waves_verified, 2);
    let landed = project.git(&["log", "--first-parent", "--format=%s", "main"]);
    let wave_0 = landed.find("docs: wave 0 is verified").unwrap();
    assert!(landed.find("docs: wave 1 is verified").unwrap() < wave_0, "{landed}");
    assert_eq!(project.file("main", "types.txt"), "by agent T of wave 0\n");
}

/// SAW-35, SAW-96: a wave 0 with two agents, or with an agent that makes nothing, is no bootstrap.
#[test]
fn wave_0_is_one_agent_that_makes_the_types() {
    let judged = |design: Value, adds: Option<Value>| {
        let (mut plan, _) = serde_json::from_value::<BootstrapPlan>(design).unwrap().into_parts();
        if let Some(more) = adds {
            plan.waves[0].agents.push(serde_json::from_value(more).unwrap());
        }
        let failed = judge(&plan, &BTreeSet::from(["README.md".to_owned()])).failed;
        failed.into_iter().map(|failed| failed.reason).collect::<Vec<_>>()
    };
    assert_eq!(judged(design(), None), [""; 0]);
    let said = "wave 0 is one agent, which creates the shared types";
    assert_eq!(judged(design(), Some(agent("U", "more.txt", &[]))), [said]);
    let mut makes_nothing = design();
    makes_nothing["types"]["creates"] = json!([]);
    assert!(judged(makes_nothing, None).contains(&said.to_owned()));
    // A normal plan has no wave 0, even if it claims so.
    let mut hostile = design()["plan"].clone();
    hostile["first_wave"] = json!(0);
    let schema = serde_json::to_value(schemars::schema_for!(scout_and_wave::protocol::plan::Plan)).unwrap();
    assert_eq!((&schema["additionalProperties"], &schema["properties"]["first_wave"]), (&json!(false), &Value::Null));
}

/// SAW-95: bootstrap mode is for an empty project.
#[tokio::test]
async fn a_project_that_has_code_is_refused() {
    let empty = ["README.md", "LICENSE", ".gitignore", "notes.txt"].map(str::to_owned);
    assert_eq!(refuse_code(&empty), Ok(()));
    for file in ["main.rs", "src/lib.rs", "Cargo.toml", "docs/a.md"] {
        let files = ["README.md".to_owned(), file.to_owned()];
        assert_eq!(refuse_code(&files).unwrap_err().file, file);
    }
    let project = Project::demonstration().await;
    let Outcome::Failed(failure) = TestRun::new(&project, script(&design(), &[])).begin(request()).await else {
        panic!()
    };
    let said =
        "a bootstrap is for a project without code, and there is `Cargo.lock`: plan the task with `run` or `scout`";
    assert_eq!((failure.node.as_str(), failure.message.as_str()), ("command", said));
}

/// SAW-02, CON-114: an architect does not write the types either: that is the work of wave 0.
#[tokio::test]
async fn an_architect_that_writes_is_refused() {
    let project = Project::of(&FILES).await;
    let test = TestRun::new(&project, script_of_a_writer(&design(), "types.txt"));
    let Outcome::Failed(failure) = test.begin(request()).await else { panic!() };
    assert_eq!(failure.node, "architect");
    assert!(failure.message.contains("types.txt"), "{}", failure.message);
    assert_eq!(project.git(&["log", "--format=%s", "main"]), "Begin\n");
}
