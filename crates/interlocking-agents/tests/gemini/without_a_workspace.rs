//! Turns without a workspace. The program must neither read nor change the directory that this process works in.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use interlocking_agents::{AgentEvent, GeminiPermissions, GeminiSettings, Turn};
use interlocking_model_server::Script;
use serde_json::json;

use crate::place::{Place, run, slug, with_key};
use crate::working::calling;

/// A program that writes down where it works and what it is told, and answers.
const PROGRAM: &str = r#"#!/bin/sh
cat >/dev/null
printf '%s %s\n' "$(pwd)" "$*" >>"$0.calls"
printf '%s\n' '{"type":"init","session_id":"0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f","model":"m"}' \
    '{"type":"message","role":"assistant","content":"yes","delta":true}' \
    '{"type":"result","status":"success","stats":{"total_tokens":3}}'
"#;

/// Lets another process write the program: see [`FaultyProgram`](interlocking_agents::faults::FaultyProgram).
fn written_to(directory: &Path) -> PathBuf {
    let file = directory.join("program");
    let mut writer = Command::new("sh");
    let writer = writer.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(&file).stdin(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    writer.stdin.take().unwrap().write_all(PROGRAM.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
    file
}

#[tokio::test]
async fn each_turn_reads_in_the_same_directory_of_its_roles_home() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let program = written_to(directory.path());
    let agent = with_key(GeminiSettings {
        program: program.clone(),
        home: Some(home.clone()),
        base_url: Some("http://127.0.0.1:1".to_owned()),
        permissions: GeminiPermissions::Everything,
        ..GeminiSettings::default()
    });
    for role in [None, Some("tests"), Some("tests")] {
        let turn = Turn { role: role.map(str::to_owned), ..Turn::fresh(slug(), "Hello") };
        assert_eq!(run(&agent, turn).await.0.unwrap().text.as_deref(), Some("yes"));
    }
    let home = home.canonicalize().unwrap();
    let calls = std::fs::read_to_string(program.with_file_name("program.calls")).unwrap();
    let places = ["nowhere", "roles/tests/nowhere", "roles/tests/nowhere"];
    for (call, place) in calls.lines().zip(places) {
        assert!(call.starts_with(&format!("{} ", home.join(place).display())), "{call}");
        assert!(call.contains("--approval-mode default"), "{call}");
    }
    assert_eq!(calls.lines().count(), places.len());
}

#[tokio::test]
async fn nothing_is_written_and_a_session_goes_on() {
    let script = calling(Script::new(), "write_file", json!({ "file_path": "greeting", "content": "hello" }));
    let Some(place) = Place::new(script) else { return };
    let agent = with_key(GeminiSettings { permissions: GeminiPermissions::Everything, ..place.settings() });
    let (outcome, events) = run(&agent, Turn { workspace: None, ..place.fresh("work") }).await;
    let completion = outcome.unwrap();
    assert!(completion.text.as_deref().unwrap_or_default().contains("not found"), "{completion:?}");
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::FileWritten { .. })), "{events:?}");
    run(&agent, Turn { workspace: None, ..place.go_on(&completion.session, "work on") }).await.0.unwrap();
    assert_eq!(std::fs::read_dir(place.home().join("nowhere")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_command_that_is_allowed_elsewhere_is_not_run_in_a_turn_that_only_reads() {
    let command = || calling(Script::new(), "run_shell_command", json!({ "command": "touch proof" }));
    for workspace in [false, true] {
        let Some(place) = Place::new(command()) else { return };
        let allowed_tools = vec!["run_shell_command(touch)".to_owned()];
        let agent = with_key(GeminiSettings { allowed_tools, ..place.settings() });
        let workspace = workspace.then(|| place.work());
        let text =
            run(&agent, Turn { workspace, read_only: true, ..place.fresh("work") }).await.0.unwrap().text.unwrap();
        let made = [place.work(), place.home().join("nowhere")].map(|directory| directory.join("proof").exists());
        assert_eq!(made, [false; 2], "{text}");
    }
}
