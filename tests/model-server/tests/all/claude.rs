//! The real Claude Code takes the server for Anthropic's.

use std::path::Path;

use interlocking_model_server::programs::{self, found};
use interlocking_model_server::{Block, Dialect, ModelServer, Reaction, Rule, Script, Usage};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::real::{Place, Ran, run};

fn claude(program: &Path, place: &Place, server: &ModelServer) -> Command {
    let mut command = place.command(program);
    command.args(["-p", "--output-format", "stream-json", "--verbose", "--model", "claude-haiku-4-5"]);
    command.args(["--permission-mode", "acceptEdits", "--setting-sources", "", "--strict-mcp-config"]);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "key-of-the-test");
    command.env("CLAUDE_CONFIG_DIR", place.home()).env("CLAUDE_CODE_MAX_RETRIES", "2");
    for switch in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    ] {
        command.env(switch, "1");
    }
    command
}

fn result(ran: &Ran) -> Value {
    ran.last("result")
}

#[tokio::test]
async fn a_plain_answer() {
    let Some(program) = found(programs::claude()) else { return };
    let usage = Usage { input: 7, cached: 5, cache_written: 3, output: 11 };
    let answer = Reaction::text("Blue.").with_usage(usage);
    let server = ModelServer::start(Script::new().rule(Rule::asked("colour").reply(answer))).unwrap();
    let place = Place::new();
    let mut command = claude(&program, &place, &server);
    command.args(["--append-system-prompt", "Answer in one word."]);
    let ran = run(command, "Which colour?").await;

    server.assert_all_matched();
    let result = result(&ran);
    assert_eq!((ran.code, &result["result"], &result["is_error"]), (Some(0), &json!("Blue."), &json!(false)));
    assert_eq!(result["usage"]["input_tokens"], 7);
    assert_eq!(result["usage"]["cache_read_input_tokens"], 5);
    assert_eq!(result["usage"]["output_tokens"], 11);
    let [request] = &server.requests()[..] else { panic!("one request: {:#?}", server.requests()) };
    assert_eq!(request.dialect, Dialect::Anthropic);
    assert_eq!(request.prompt(), "Which colour?");
    assert!(request.system().contains("Answer in one word."), "{}", request.system());
    assert!(request.model().contains("haiku"), "{}", request.model());
    assert!(request.offers("Bash") && request.streams());
    assert_eq!(request.header("x-api-key"), Some("key-of-the-test"));
    assert_eq!(server.notes(), Vec::<String>::new());
}
