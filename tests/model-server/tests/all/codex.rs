//! The real Codex works with the server as with OpenAI's.

use std::path::Path;

use interlocking_model_server::programs::{self, found};
use interlocking_model_server::{Dialect, ModelServer, Reaction, Rule, Script, Usage};
use serde_json::json;
use tokio::process::Command;

use crate::real::{Place, run};

fn codex(program: &Path, place: &Place, server: &ModelServer) -> Command {
    let mut command = place.command(program);
    command.args(["exec", "--json", "--skip-git-repo-check", "-s", "workspace-write", "-m", "gpt-5"]);
    command.args(["-c", "model_provider=\"mock\"", "-c", "analytics.enabled=false", "--disable", "plugins"]);
    let provider = format!(
        "model_providers.mock={{name=\"mock\",base_url=\"{}/v1\",env_key=\"MODEL_KEY\",wire_api=\"responses\",\
         request_max_retries=1,stream_max_retries=1,supports_websockets=false}}",
        server.url()
    );
    command.args(["-c", &provider]);
    command.env("CODEX_HOME", place.home()).env("MODEL_KEY", "key-of-the-test");
    command
}

#[tokio::test]
async fn a_plain_answer() {
    let Some(program) = found(programs::codex()) else { return };
    let usage = Usage { input: 7, cached: 5, cache_written: 0, output: 11 };
    let answer = Reaction::text("Blue.").with_usage(usage);
    let server = ModelServer::start(Script::new().rule(Rule::asked("colour").reply(answer))).unwrap();
    let place = Place::new();
    let mut command = codex(&program, &place, &server);
    command.arg("-");
    let ran = run(command, "Which colour?").await;

    server.assert_all_matched();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.last("item.completed")["item"]["text"], "Blue.", "{}", ran.stdout);
    let usage = &ran.last("turn.completed")["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(12), &json!(11)), "{usage}");
    let [request] = &server.requests()[..] else { panic!("one request: {:#?}", server.requests()) };
    assert_eq!((request.dialect, request.prompt()), (Dialect::Responses, "Which colour?".to_owned()));
    assert_eq!((request.model(), request.streams()), ("gpt-5", true));
    assert_eq!(request.header("authorization"), Some("Bearer key-of-the-test"));
    assert!(request.offers("exec_command") && server.notes().is_empty(), "{:?}", server.notes());
}

#[tokio::test]
async fn a_command_really_runs() {
    let Some(program) = found(programs::codex()) else { return };
    let command = json!({ "cmd": "echo done > proof && cat proof" });
    let script = Script::new()
        .rule(Rule::asked("Prove it").reply(Reaction::tool("exec_command", command)))
        .rule(Rule::told("done").reply(Reaction::output(json!({ "proved": true }))));
    let server = ModelServer::start(script).unwrap();
    let place = Place::new();
    let schema = place.home().join("schema.json");
    let wanted = json!({
        "type": "object",
        "properties": { "proved": { "type": "boolean" } },
        "required": ["proved"],
        "additionalProperties": false,
    });
    std::fs::write(&schema, wanted.to_string()).unwrap();
    let mut command = codex(&program, &place, &server);
    command.arg("--output-schema").arg(&schema).args(["-c", "sandbox_mode=\"danger-full-access\"", "-"]);
    let ran = run(command, "Prove it.").await;

    server.assert_all_matched();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(std::fs::read_to_string(place.work().join("proof")).unwrap(), "done\n", "{}", ran.stdout);
    assert_eq!(ran.last("item.completed")["item"]["text"], r#"{"proved":true}"#);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].schema(), Some(&wanted));
    assert!(requests[1].last_results()[0].contains("done"));
}
