//! What the agent does in its workspace, and what it may not do.

use std::path::PathBuf;

use interlocking_agents::{AgentEvent, ClaudeSettings, Completion, Conversation, Turn};
use interlocking_model_server::{Block, Reaction, Request, Rule, Script};
use serde_json::{Value, json};

use crate::common::{Bench, Recorded};

/// A model that calls this tool, and then reports the tool's result.
fn calling(tool: &str, input: Value) -> Script {
    let said = |request: &Request| Reaction::text(request.last_results().join("\n"));
    let (tool, asked) = (tool.to_owned(), Rule::asked("Work"));
    Script::new().rule(asked.reply(Reaction::tool(&tool, input))).rule(Rule::any().reply_with(said))
}

async fn heard(bench: &Bench, settings: ClaudeSettings, turn: Turn) -> (Completion, Vec<AgentEvent>) {
    let (agent, recorded) = (bench.agent_with(settings), Recorded::default());
    let completion = Conversation::new(&agent).run(turn, &recorded.sink()).await.unwrap();
    (completion, recorded.events())
}

fn bash(rule: &str, settings: ClaudeSettings) -> ClaudeSettings {
    ClaudeSettings { allowed_tools: vec![rule.to_owned()], ..settings }
}

#[tokio::test]
async fn a_file_is_really_written_in_the_workspace() {
    let script = Script::new()
        .rule(Rule::asked("Work").reply_with(|request: &Request| {
            let place = request
                .system()
                .lines()
                .find_map(|line| line.trim().strip_prefix("- Primary working directory: "))
                .unwrap()
                .to_owned();
            let write = |name: &str| json!({ "file_path": format!("{place}/{name}"), "content": "Rust lends.\n" });
            Reaction::tool("Write", write("article.md"))
                .and(Block::Tool { name: "Write".to_owned(), input: write("notes/one.md") })
        }))
        .rule(Rule::any().reply(Reaction::text("It is written.")));
    let Some(bench) = Bench::new(script) else { return };
    let (_, events) = heard(&bench, bench.settings(), bench.fresh("Work.")).await;
    for name in ["article.md", "notes/one.md"] {
        assert_eq!(std::fs::read_to_string(bench.workspace().join(name)).unwrap(), "Rust lends.\n");
        assert!(events.contains(&AgentEvent::FileWritten { path: PathBuf::from(name) }), "{events:?}");
    }
    let tools = events.iter().filter(|event| matches!(event, AgentEvent::ToolUse { name, .. } if name == "Write"));
    assert_eq!(tools.count(), 2);
}

#[tokio::test]
async fn a_command_is_run_where_it_is_allowed_and_its_exit_code_is_told() {
    for (command, exit) in [("touch made && exit 3", Some(3)), ("touch made", Some(0))] {
        let input = json!({ "command": command, "description": "make a file" });
        let Some(bench) = Bench::new(calling("Bash", input)) else { return };
        let (_, events) = heard(&bench, bash("Bash(touch *)", bench.settings()), bench.fresh("Work.")).await;
        let allowed = !command.contains("exit");
        assert_eq!(
            bench.workspace().join("made").exists(),
            allowed,
            "a rule is for every part of a command: {events:?}"
        );
        let run = AgentEvent::CommandRun { command: vec![command.to_owned()], exit };
        assert_eq!(events.contains(&run), allowed, "{events:?}");
        let (_, events) = heard(&bench, bash("Bash", bench.settings()), bench.fresh("Work.")).await;
        assert!(bench.workspace().join("made").exists());
        assert!(events.contains(&run), "{events:?}");
    }
}

/// A tool call that is not allowed is denied, and the turn continues.
#[tokio::test]
async fn nothing_outside_the_workspace_is_read_or_written_and_no_command_is_run() {
    let directory = tempfile::tempdir().unwrap();
    let (secret, outside) = (directory.path().join("secret"), directory.path().join("outside"));
    std::fs::write(&secret, "canary").unwrap();
    let calls = [
        ("Write", json!({ "file_path": outside, "content": "x" })),
        ("Write", json!({ "file_path": "../outside", "content": "x" })),
        ("Read", json!({ "file_path": secret })),
        ("Read", json!({ "file_path": "../secret" })),
        ("Grep", json!({ "pattern": "canary", "path": directory.path(), "output_mode": "content" })),
        ("Glob", json!({ "pattern": "secret*", "path": directory.path() })),
        ("Bash", json!({ "command": format!("touch {}", outside.display()), "description": "x" })),
        ("Bash", json!({ "command": format!("cat {}", secret.display()), "description": "x" })),
        ("Bash", json!({ "command": "curl http://127.0.0.1:9", "description": "x" })),
    ];
    let called = calls.len();
    let calls = Reaction::blocks(calls.map(|(name, input)| Block::Tool { name: name.to_owned(), input }));
    let script = Script::new()
        .rule(Rule::asked("Work").reply(calls))
        .rule(Rule::any().reply_with(|request: &Request| Reaction::text(request.last_results().join("\n====\n"))));
    let Some(bench) = Bench::new(script) else { return };
    std::fs::write(bench.directory().join("secret"), "canary").unwrap();
    let (completion, events) = heard(&bench, bench.settings(), bench.fresh("Work.")).await;
    assert!(!outside.exists() && !bench.directory().join("outside").exists());
    let text = completion.text.unwrap();
    let results: Vec<_> = text.split("\n====\n").collect();
    assert_eq!(results.len(), called, "{text}");
    assert!(
        results.iter().all(|result| result.contains("denied") || result.contains("requested permission")),
        "{text}"
    );
    assert!(!text.contains("canary"), "{text}");
    let done = |event: &AgentEvent| matches!(event, AgentEvent::FileWritten { .. } | AgentEvent::CommandRun { .. });
    assert!(!events.iter().any(done), "{events:?}");
}

#[tokio::test]
async fn a_turn_that_only_reads_has_no_tool_to_write_with() {
    let Some(bench) = Bench::new(calling("Write", json!({ "file_path": "article.md", "content": "x" }))) else {
        return;
    };
    let turn = Turn { read_only: true, ..bench.fresh("Work.") };
    let settings = ClaudeSettings {
        permission_mode: interlocking_agents::claude::PermissionMode::AcceptEdits,
        ..bench.settings()
    };
    heard(&bench, settings, turn).await;
    assert!(!bench.workspace().join("article.md").exists());
    assert_eq!(
        bench.server.requests()[0].tools().iter().filter(|tool| *tool != "DeferredToolPlaceholder").collect::<Vec<_>>(),
        ["Glob", "Grep", "Read"]
    );
}

/// The program itself would treat the prompt as one of its commands, and would read the file regardless of permissions.
#[tokio::test]
async fn a_prompt_is_a_prompt_whatever_it_begins_with() {
    let Some(bench) = Bench::new(Script::computed(|request: &Request| Reaction::text(request.prompt()))) else {
        return;
    };
    std::fs::write(bench.directory().join("secret"), "canary-in-a-file").unwrap();
    let mentioned = format!("Look at @{}.", bench.directory().join("secret").display());
    for prompt in ["/clear", "/etc is a directory", "!touch x", &mentioned] {
        let (completion, _) = heard(&bench, bench.settings(), bench.fresh(prompt)).await;
        assert_eq!(completion.text.unwrap().trim_start(), prompt);
    }
    let sent: String = bench.server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(!sent.contains("canary-in-a-file"));
}

/// The notes of one agent, and what a workspace says about itself, do not reach another agent by default.
#[tokio::test]
async fn a_long_prompt_goes_through_and_a_workspace_sets_nothing() {
    let Some(bench) =
        Bench::new(Script::computed(|request: &Request| Reaction::text(request.prompt().len().to_string())))
    else {
        return;
    };
    std::fs::create_dir(bench.workspace().join(".claude")).unwrap();
    let hook =
        json!({ "hooks": { "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "touch hooked" }] }] } });
    std::fs::write(bench.workspace().join(".claude/settings.json"), hook.to_string()).unwrap();
    let mcp = json!({ "mcpServers": { "own": { "command": "touch", "args": ["served"] } } });
    std::fs::write(bench.workspace().join(".mcp.json"), mcp.to_string()).unwrap();
    // Longer than an argument may be.
    let prompt = "words ".repeat(50_000);
    let (completion, _) = heard(&bench, bench.settings(), bench.fresh(prompt.trim())).await;
    assert_eq!(completion.text.unwrap(), prompt.trim().len().to_string());
    assert!(!bench.workspace().join("hooked").exists() && !bench.workspace().join("served").exists());
}

#[tokio::test]
async fn without_a_workspace_it_stands_in_an_empty_directory() {
    let input = json!({ "command": "pwd; ls -A", "description": "look" });
    let Some(bench) = Bench::new(calling("Bash", input)) else { return };
    let turn = Turn { workspace: None, ..bench.fresh("Work.") };
    let (completion, _) = heard(&bench, bash("Bash", bench.settings()), turn).await;
    let text = completion.text.unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.ends_with("/empty"), "{text}");
}
