//! In a sandbox, which requires Linux: a command cannot reach anything outside, even if the command is allowed.

use std::sync::Arc;

use interlocking_agents::{Agent, ClaudeSettings, SessionOp, Turn};
use interlocking_model_server::{Block, Reaction, Request, Rule, Script};
use interlocking_sandbox::Sandbox;
use serde_json::json;

use crate::common::{Bench, run};

#[tokio::test]
async fn the_program_works_in_a_sandbox_and_its_commands_do_not_leave_it() {
    let commands = |request: &Request| {
        let outside = request.prompt().split_whitespace().last().unwrap().to_owned();
        let command = format!(
            "echo in > inside; mktemp > temporary; cat {outside}/secret {outside}/state.calls/call-other/mcp.json; \
             echo out > {outside}/outside; ls {outside}; ls {outside}/state"
        );
        let bash = Block::Tool { name: "Bash".to_owned(), input: json!({ "command": command, "description": "try" }) };
        let write = json!({ "file_path": format!("{outside}/workspace/written"), "content": "written" });
        Reaction::blocks([Block::Tool { name: "Write".to_owned(), input: write }, bash])
    };
    let script = Script::new()
        .rule(Rule::asked("Work").reply_with(commands))
        .rule(Rule::asked("Go on").reply(Reaction::text("I remember.")))
        .rule(Rule::any().reply_with(|request: &Request| Reaction::text(request.last_results().join("\n"))));
    let Some(bench) = Bench::new(script) else { return };
    let temporary = bench.another("tmp");
    std::fs::write(bench.directory().join("secret"), "canary").unwrap();
    // The directory of another call. It has a lock that its process holds.
    let other = bench.directory().join("state.calls/call-other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("mcp.json"), "canary").unwrap();
    let lock = std::fs::File::create(other.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let sandbox = Sandbox::for_place(bench.workspace()).temporary_directory(&temporary);
    let allowed_tools = vec!["Bash".to_owned(), "Edit(./**)".to_owned()];
    let agent = bench.agent_with(ClaudeSettings { allowed_tools, ..bench.settings() });
    assert!(agent.confines());
    let sandbox = Some(Arc::new(agent.grants(None, sandbox).unwrap()));
    let prompt = format!("Work. {}", bench.directory().display());
    let turn = Turn { sandbox: sandbox.clone(), ..bench.fresh(&prompt) };
    let completion = run(&agent, turn).await.unwrap();
    let text = completion.text.unwrap();
    assert_eq!(std::fs::read_to_string(bench.workspace().join("inside")).unwrap_or_default(), "in\n", "{text}");
    assert_eq!(std::fs::read_to_string(bench.workspace().join("written")).unwrap_or_default(), "written", "{text}");
    let made = std::fs::read_to_string(bench.workspace().join("temporary")).unwrap();
    assert!(made.starts_with(&temporary.display().to_string()), "{made}: {text}");
    assert!(!text.contains("canary") && text.matches("Permission denied").count() >= 4, "{text}");
    // Without a role the whole home is granted.
    assert!(text.contains("projects") && other.join("mcp.json").exists(), "{text}");
    assert!(!bench.directory().join("outside").exists());
    // The session is found again.
    let turn = Turn { sandbox, ..bench.turn(SessionOp::ContinueFrom(completion.session), "Go on.") };
    assert_eq!(run(&agent, turn).await.unwrap().text.as_deref(), Some("I remember."));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 1, "what is left is the command's");
}
