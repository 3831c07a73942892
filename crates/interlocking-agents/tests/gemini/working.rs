//! Tools, and what they may do.

use std::path::PathBuf;

use interlocking_agents::{AgentEvent, GeminiPermissions, GeminiSettings, Turn};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::{Value, json};

use crate::place::{Place, run, with_key};

/// A model that makes one call and then reports its result, unless a rule of the script says otherwise.
pub(crate) fn calling(script: Script, tool: &'static str, input: Value) -> Script {
    script
        .rule(Rule::asked("work").reply(Reaction::tool(tool, input)))
        .rule(Rule::any().prompt("work").reply_with(|request| Reaction::text(request.last_results().join("\n"))))
}

fn write(path: &str) -> Script {
    calling(Script::new(), "write_file", json!({ "file_path": path, "content": "hello\n" }))
}

#[tokio::test]
async fn a_file_is_really_written() {
    let Some(place) = Place::new(write("greeting")) else { return };
    let (outcome, events) = run(&place.gemini(), place.fresh("work")).await;
    let text = outcome.unwrap().text.unwrap();
    assert!(text.contains("greeting"), "{text}");
    assert_eq!(std::fs::read_to_string(place.work().join("greeting")).unwrap(), "hello\n");
    assert!(events.contains(&AgentEvent::FileWritten { path: PathBuf::from("greeting") }), "{events:?}");
    let named = |event: &AgentEvent| matches!(event, AgentEvent::ToolUse { name, .. } if name == "write_file");
    assert!(events.iter().any(named), "{events:?}");
}

#[tokio::test]
async fn nothing_is_written_outside_or_in_a_turn_that_only_reads() {
    let outside = std::env::temp_dir().join(format!("gemini-outside-{}", std::process::id()));
    let Some(place) = Place::new(write(outside.to_str().unwrap())) else { return };
    let text = run(&place.gemini(), place.fresh("work")).await.0.unwrap().text.unwrap();
    assert!(text.contains("not in workspace") && !outside.exists(), "{text}");

    let Some(place) = Place::new(write("greeting")) else { return };
    let read_only = Turn { read_only: true, ..place.fresh("work") };
    let agent = with_key(GeminiSettings { permissions: GeminiPermissions::Everything, ..place.settings() });
    let (outcome, events) = run(&agent, read_only).await;
    let text = outcome.unwrap().text.unwrap();
    assert!(text.contains("not found") && !place.work().join("greeting").exists(), "{text}");
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::FileWritten { .. })), "{events:?}");
    assert!(!place.server.requests()[0].offers("write_file"));
}

#[tokio::test]
async fn a_command_runs_where_it_is_allowed() {
    let command = || calling(Script::new(), "run_shell_command", json!({ "command": "echo done > proof" }));
    for (allowed, runs) in
        [(None, false), (Some("run_shell_command(echo)"), true), (Some("run_shell_command(ls)"), false)]
    {
        let Some(place) = Place::new(command()) else { return };
        let allowed_tools = allowed.map(str::to_owned).into_iter().collect();
        let agent = with_key(GeminiSettings { allowed_tools, ..place.settings() });
        let text = run(&agent, place.fresh("work")).await.0.unwrap().text.unwrap();
        assert_eq!(place.work().join("proof").exists(), runs, "{allowed:?}: {text}");
    }
}

#[tokio::test]
async fn tools_can_be_taken_away() {
    let Some(place) = Place::new(Script::computed(|_| Reaction::text("Yes."))) else { return };
    let excluded_tools = vec!["google_web_search".to_owned()];
    let agent = with_key(GeminiSettings { excluded_tools, ..place.settings() });
    run(&agent, place.fresh("Hello")).await.0.unwrap();
    let requests = place.server.requests();
    assert!(requests[0].offers("write_file") && !requests[0].offers("google_web_search"), "{:?}", requests[0].tools());
}
