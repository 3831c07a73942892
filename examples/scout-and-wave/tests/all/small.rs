//! A small project and a small plan for tests of waves: two agents with a file each, and a gate with stand-ins for its programs.

use crate::project::Project;
use crate::test_run::{DOCUMENT, TestRun};
use interlocking::agents::Script;
use interlocking::cli::repository::EmbeddedFile;
use interlocking::prelude::*;
use interlocking::toolchain::Recorder;
use scout_and_wave::document::Impl;
use scout_and_wave::graph::BlockedQuestion;
use scout_and_wave::protocol::state::BlockReason;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

const FILES: [EmbeddedFile; 3] = [
    EmbeddedFile { path: "README.md", contents: "# Small\n" },
    EmbeddedFile { path: "list.txt", contents: "one\n" },
    EmbeddedFile { path: "shared.txt", contents: "shared\n" },
];

pub(crate) async fn project() -> Project {
    Project::of(&FILES).await
}

/// Agents A and B create a file each.
pub(crate) fn plan() -> Value {
    let agent = |letter: &str, file: &str| {
        json!({
            "agent": letter, "creates": [file], "task": format!("Write {file}."), "tests": [], "verification": [["true"]],
            "constraints": [], "minutes": 5,
        })
    };
    json!({
        "title": "Two files",
        "summary": "Two files, each by an agent.",
        "waves": [{ "agents": [agent("A", "a.txt"), agent("B", "b.txt")] }],
        "contracts": [{ "name": "greet", "signature": "fn greet()", "provided_by": "A", "called_by": ["B"] }],
        "append_only": [{ "file": "list.txt", "additions": [{ "agent": "A", "lines": ["two"] }, { "agent": "B", "lines": ["three"] }] }],
        "gate": [["build", "all"], ["test", "all"]],
        "estimates": { "scout": 1, "merge": 1, "sequential": 20 },
    })
}

/// The same with a second wave: agents C and D.
pub(crate) fn two_waves() -> Value {
    let mut plan = plan();
    let mut second = plan["waves"][0].clone();
    for (agent, (letter, file)) in
        second["agents"].as_array_mut().unwrap().iter_mut().zip([("C", "c.txt"), ("D", "d.txt")])
    {
        agent["agent"] = json!(letter);
        agent["creates"] = json!([file]);
        agent["task"] = json!(format!("Write {file}."));
    }
    plan["waves"].as_array_mut().unwrap().push(second);
    plan["estimates"]["sequential"] = json!(40);
    plan
}

/// The turn of an agent.
#[derive(Clone)]
pub(crate) struct Turn {
    pub(crate) post: &'static str,
    /// Its actions in order: `write PATH`, `commit`, or a command.
    pub(crate) actions: Vec<Vec<&'static str>>,
    pub(crate) report: Value,
}

/// The turn of an agent of the first wave that behaves correctly.
pub(crate) fn turn(letter: &'static str, file: &'static str) -> Turn {
    Turn {
        post: if letter == "A" { "agent A of wave 1" } else { "agent B of wave 1" },
        actions: vec![vec!["write", file], vec!["commit"]],
        report: json!({
            "status": "complete",
            "worktree": format!(".claude/worktrees/wave1-agent-{}", letter.to_lowercase()),
            "commit": "$HEAD",
            "files_changed": [],
            "files_created": [file],
            "interface_deviations": [],
            "out_of_scope_deps": [],
            "tests_added": [],
            "verification": "PASS (true - 0/0 tests)",
        }),
    }
}

pub(crate) fn turns() -> [Turn; 2] {
    [turn("A", "a.txt"), turn("B", "b.txt")]
}

/// The turns of agents of the second wave that behave correctly.
pub(crate) fn second_turns() -> [Turn; 2] {
    [("agent C of wave 2", "c", "c.txt"), ("agent D of wave 2", "d", "d.txt")].map(|(post, letter, file)| {
        let mut turn = Turn { post, ..turn("A", file) };
        turn.report["worktree"] = json!(format!(".claude/worktrees/wave2-agent-{letter}"));
        turn
    })
}

pub(crate) fn script(plan: &Value, turns: &[Turn]) -> Script {
    script_for(plan, turns, "")
}

/// The same, where the agents' turns match only prompts with these words.
pub(crate) fn script_for(plan: &Value, turns: &[Turn], words: &str) -> Script {
    Script::parse("a test's script", &text(plan, turns, words)).unwrap()
}

/// The same, where the agents' turns may be repeated.
pub(crate) fn script_again(plan: &Value, turns: &[Turn]) -> Script {
    Script::parse("a test's script", &text_again(plan, turns)).unwrap()
}

/// The text of that script.
pub(crate) fn text_again(plan: &Value, turns: &[Turn]) -> String {
    let (once, again) = ("agent = \"agent\"\n", "agent = \"agent\"\ntimes = \"any\"\n");
    text(plan, turns, "").replace(once, again)
}

/// The text of a script.
pub(crate) fn text(plan: &Value, turns: &[Turn], words: &str) -> String {
    let mut text = format!("[[turn]]\nagent = \"scout\"\noutput_json = '''{plan}'''\n");
    for Turn { post, actions, report } in turns {
        _ = writeln!(
            text,
            "[[turn]]\nagent = \"agent\"\ncontains = [\"You are {post}\\n\", \"{words}\"]\noutput_json = '''{report}'''"
        );
        for action in actions {
            match action[..] {
                ["write", path] => _ = writeln!(text, "[[turn.write]]\npath = \"{path}\"\ncontent = \"by {post}\\n\""),
                ["commit"] => text.push_str("[[turn.commit]]\nmessage = \"work\"\n"),
                ref command => _ = writeln!(text, "[[turn.run]]\ncommand = {}", json!(command)),
            }
        }
    }
    text
}

/// The same, where only the agents of later waves must be told these words.
pub(crate) fn script_telling_later(plan: &Value, turns: &[Turn], later: &[Turn], words: &str) -> Script {
    let later = text(plan, later, words);
    let (_, later) = later.split_once("[[turn]]\nagent = \"agent\"").unwrap();
    let text = format!("{}[[turn]]\nagent = \"agent\"{later}", text(plan, turns, ""));
    Script::parse("a test's script", &text).unwrap()
}

/// A gate that passes.
pub(crate) fn passing() -> Arc<Recorder> {
    Arc::new(Recorder::new().with_default_answer(Recorder::exit(0, "")))
}

/// Asserts that an approved run is blocked, with a question to a person, and gives the reason and the problems. Nothing of the
/// wave has landed.
pub(crate) async fn is_blocked(project: &Project, test: &TestRun<'_>) -> (BlockReason, Vec<String>) {
    assert!(matches!(test.start().await, Outcome::Waiting { .. }));
    blocks(project, test).await
}

/// The same for a run that waits for its approval.
pub(crate) async fn blocks(project: &Project, test: &TestRun<'_>) -> (BlockReason, Vec<String>) {
    let main = project.git(&["rev-parse", "main"]);
    let ended = test.approve().await;
    assert!(matches!(ended, Outcome::Waiting { .. }), "{ended:?}");
    // SAW-109: the target branch is unchanged, and so are the user's files.
    assert_eq!(project.git(&["rev-parse", "main"]), main);
    assert_eq!(project.git(&["status", "--short"]), "");
    Impl::read(DOCUMENT, &project.file("main", DOCUMENT)).unwrap();
    let BlockedQuestion { wave: 1, reason, problems, .. } = test.question().await else { panic!() };
    (reason, problems)
}
