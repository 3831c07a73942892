//! The real Claude Code works with the server as with Anthropic's.

use std::path::Path;
use std::time::Duration;

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

#[tokio::test]
async fn a_file_is_really_written_and_then_an_output_given() {
    let Some(program) = found(programs::claude()) else { return };
    let place = Place::new();
    let file = place.work().join("greeting");
    let write = json!({ "file_path": file, "content": "hello\n" });
    let script = Script::new()
        .rule(
            Rule::asked("greeting")
                .reply(Reaction::text("I write.").and(Block::Tool { name: "Write".into(), input: write })),
        )
        .rule(Rule::told("created successfully").reply(Reaction::output(json!({ "written": true }))));
    let server = ModelServer::start(script).unwrap();
    let mut command = claude(&program, &place, &server);
    let schema =
        json!({ "type": "object", "properties": { "written": { "type": "boolean" } }, "required": ["written"] });
    command.args(["--json-schema", &schema.to_string()]);
    let ran = run(command, "Write a greeting.").await;

    server.assert_all_matched();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "hello\n");
    assert_eq!(result(&ran)["structured_output"], json!({ "written": true }));
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "{:#?}", server.requests());
    assert_eq!(requests[0].schema().unwrap()["properties"], schema["properties"]);
    assert_eq!(requests[1].prompts(), ["Write a greeting."]);
}

#[tokio::test]
async fn a_limit_of_requests_passes() {
    let Some(program) = found(programs::claude()) else { return };
    let refused = Reaction::status(429, "slow down").with_header("retry-after", "0");
    let script = Script::new().rule(Rule::any().times(1).reply(refused)).rule(
        Rule::asked("colour").reply(Reaction::blocks([Block::Thinking("Hm.".into()), Block::Text("Blue.".into())])),
    );
    let server = ModelServer::start(script).unwrap();
    let place = Place::new();
    let ran = run(claude(&program, &place, &server), "Which colour?").await;
    assert_eq!((ran.code, &result(&ran)["result"]), (Some(0), &json!("Blue.")));
    assert_eq!(server.requests().len(), 2);
    assert_eq!(ran.events().iter().filter(|event| event["subtype"] == "api_retry").count(), 1);
}

#[tokio::test]
async fn what_no_rule_fits_is_visible() {
    let Some(program) = found(programs::claude()) else { return };
    let server = ModelServer::start(Script::new().rule(Rule::asked("something else"))).unwrap();
    let place = Place::new();
    let ran = run(claude(&program, &place, &server), "Which colour?").await;
    assert_eq!(ran.code, Some(1));
    let said = result(&ran)["result"].to_string();
    assert!(said.contains("no rule of the model server's script fits") && said.contains("Which colour?"), "{said}");
    assert!(!server.unmatched().is_empty());
}

#[tokio::test]
async fn a_stall_lasts_until_the_program_goes() {
    let Some(program) = found(programs::claude()) else { return };
    let stalled = Reaction::text("Never heard in full.").stalled_after(3);
    let server = ModelServer::start(Script::new().rule(Rule::any().reply(stalled))).unwrap();
    let place = Place::new();
    let ending = tokio::time::timeout(Duration::from_secs(5), run(claude(&program, &place, &server), "Which colour?"));
    assert!(ending.await.is_err(), "it waits");
    assert_eq!(server.requests().len(), 1);
}
