//! Tools that really write files and run commands, and the events about them.

use interlocking_agents::{AgentEvent, Codex, CodexSettings, Turn};
use interlocking_model_server::{Block, Reaction, Rule, Script};
use serde_json::json;

use crate::place::{Place, run};

/// The model's call of the tool that runs a command.
pub(crate) fn command(command: &str) -> Reaction {
    Reaction::tool("exec_command", json!({ "cmd": command, "yield_time_ms": 30_000 }))
}

fn patch(lines: &[&str]) -> Reaction {
    let patch = format!("*** Begin Patch\n{}\n*** End Patch", lines.join("\n"));
    Reaction::tool("apply_patch", json!(patch))
}

#[tokio::test]
async fn files_are_written_changed_and_removed() {
    let lines = [
        "*** Add File: new/made.txt",
        "+made",
        "*** Update File: old.txt",
        "@@",
        "-one",
        "+two",
        "*** Delete File: gone.txt",
    ];
    let script = Script::new()
        .rule(Rule::asked("Write").reply(patch(&lines)))
        .rule(Rule::told("Success").reply(Reaction::text("Written.")));
    let Some(place) = Place::new(script) else { return };
    std::fs::write(place.work().join("old.txt"), "one\n").unwrap();
    std::fs::write(place.work().join("gone.txt"), "gone\n").unwrap();
    let (outcome, mut events) = run(&place.codex(), place.fresh("Write it.")).await;

    assert_eq!(outcome.unwrap().usage.input_tokens, 200, "both answers of the model count");
    assert_eq!((place.read("new/made.txt").as_str(), place.read("old.txt").as_str()), ("made\n", "two\n"));
    assert!(!place.work().join("gone.txt").exists());
    events.retain(|event| matches!(event, AgentEvent::FileWritten { .. } | AgentEvent::FileRemoved { .. }));
    let written = |path: &str| AgentEvent::FileWritten { path: path.into() };
    assert_eq!(
        events,
        [AgentEvent::FileRemoved { path: "gone.txt".into() }, written("new/made.txt"), written("old.txt")]
    );
}

#[tokio::test]
async fn commands_run_in_the_workspace() {
    let script = Script::new()
        .rule(
            Rule::asked("Run").reply(command("echo made > made.txt; exit 3").and(Block::Text("I run it.".to_owned()))),
        )
        .rule(Rule::told("exited with code 3").reply(Reaction::text("It failed.")));
    let Some(place) = Place::new(script) else { return };
    let (outcome, events) = run(&place.codex(), place.fresh("Run it.")).await;

    assert_eq!(outcome.unwrap().text.as_deref(), Some("It failed."));
    assert_eq!(place.read("made.txt"), "made\n");
    let [.., AgentEvent::ToolUse { name, .. }, AgentEvent::CommandRun { command, exit: Some(3) }, _, _] = &events[..]
    else {
        panic!("{events:#?}")
    };
    assert_eq!(name, "command");
    assert_eq!(command[1..], ["-c", "echo made > made.txt; exit 3"]);
}

#[tokio::test]
async fn a_turn_that_only_reads_changes_nothing() {
    let script = Script::new()
        .rule(Rule::asked("Patch").reply(patch(&["*** Add File: made.txt", "+made"])))
        .rule(Rule::told("read-only sandbox").reply(command("echo made > made.txt")))
        .rule(Rule::told("Read-only file system").reply(Reaction::text("I may not.")));
    let Some(place) = Place::new(script) else { return };
    let turn = Turn { read_only: true, ..place.fresh("Patch it.") };
    let (outcome, events) = run(&place.codex(), turn).await;

    assert_eq!(outcome.unwrap().text.as_deref(), Some("I may not."));
    assert_eq!(std::fs::read_dir(place.work()).unwrap().count(), 0);
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::FileWritten { .. })), "{events:#?}");
}

#[tokio::test]
async fn a_turn_without_a_workspace_works_nowhere() {
    let script = Script::new()
        .rule(Rule::asked("look").reply(command("pwd; ls -A; echo x > made.txt; true")))
        .rule(Rule::any().reply_with(|request| Reaction::text(request.results().join("\n"))));
    let Some(place) = Place::new(script) else { return };
    let turn = Turn { workspace: None, ..place.fresh("look") };
    let said = run(&place.codex(), turn).await.0.unwrap().text.unwrap();
    assert!(said.contains("/nowhere\n") && said.contains("Read-only file system"), "{said}");
    assert_eq!(std::fs::read_dir(place.calls()).unwrap().count(), 0);
}

/// The permissions are those of the turn: a session that a read-only turn began may be continued by a turn that writes,
/// and vice versa.
#[tokio::test]
async fn what_a_turn_may_do_is_not_inherited() {
    let script = Script::new()
        .rule(Rule::asked("write").reply(command("echo x >> made.txt; true")))
        .rule(Rule::any().reply(Reaction::text("done")));
    let Some(place) = Place::new(script) else { return };
    let codex = place.codex();
    let session = run(&codex, Turn { read_only: true, ..place.fresh("write 1") }).await.0.unwrap().session;
    assert!(!place.work().join("made.txt").exists());
    run(&codex, place.go_on(&session, "write 2")).await.0.unwrap();
    assert_eq!(place.read("made.txt"), "x\n");
    run(&codex, Turn { read_only: true, ..place.fork(&session, "write 3") }).await.0.unwrap();
    assert_eq!(place.read("made.txt"), "x\n");
}

/// Without a turn's sandbox, Codex's own sandbox confines commands to the workspace, and to `/tmp` unless it is
/// configured otherwise.
#[tokio::test]
async fn nothing_is_written_outside_the_workspace() {
    let script = Script::new()
        .rule(Rule::asked("Escape").reply(command("echo x > ../outside.txt; true")))
        .rule(Rule::any().reply(Reaction::text("done")));
    let Some(place) = Place::new(script) else { return };
    let config = "sandbox_workspace_write = { exclude_slash_tmp = true, exclude_tmpdir_env_var = true }";
    let codex = Codex::new(CodexSettings { config: toml::from_str(config).unwrap(), ..place.settings() });
    run(&codex, place.fresh("Escape.")).await.0.unwrap();
    assert!(!place.directory.path().join("outside.txt").exists());
}

/// The newer models write programs that call the tools.
#[tokio::test]
async fn a_model_that_works_by_writing_programs() {
    let program = "const done = await tools.exec_command({ cmd: 'echo made > made.txt; exit 4', yield_time_ms: 20000 }); text(JSON.stringify(done));";
    let script = Script::new()
        .rule(Rule::asked("Run").reply(Reaction::tool("exec", json!(program))))
        .rule(Rule::any().reply(Reaction::text("done")));
    let Some(place) = Place::new(script) else { return };
    let turn = Turn { model: Some("gpt-6-luna".to_owned()), ..place.fresh("Run it.") };
    let (outcome, events) = run(&place.codex(), turn).await;
    assert_eq!(outcome.unwrap().text.as_deref(), Some("done"));
    assert_eq!(place.read("made.txt"), "made\n", "{:#?}", place.server.requests().last().unwrap().results());
    assert!(events.iter().any(|event| matches!(event, AgentEvent::CommandRun { exit: Some(4), .. })), "{events:#?}");
}
