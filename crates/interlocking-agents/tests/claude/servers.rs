//! MCP servers and fallback models.

use interlocking_agents::{AgentEvent, ClaudeSettings, Conversation, Turn};
use interlocking_model_server::{Reaction, Request, Rule, Script};
use serde_json::json;

use crate::common::{Bench, Recorded, run};

/// As much of the protocol as one tool needs, in a shell script.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"own","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"greet","description":"Greets.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"a greeting from '$WHO'"}]}' ;;
    *) continue ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

#[tokio::test]
async fn an_mcp_servers_tool_is_used_where_it_is_allowed() {
    let script = Script::new()
        .rule(Rule::asked("Greet").offers("mcp__own__greet").reply(Reaction::tool("mcp__own__greet", json!({}))))
        .rule(Rule::asked("Greet").reply(Reaction::text("There is no such tool.")))
        .rule(Rule::any().reply_with(|request: &Request| Reaction::text(request.last_results().join("\n"))));
    let Some(bench) = Bench::new(script) else { return };
    let own = json!({ "command": "/bin/sh", "args": ["-c", SERVER], "env": { "WHO": "the server" } });
    let mcp_servers = [("own".to_owned(), own)].into_iter().collect();
    let allowed_tools = vec!["mcp__own__greet".to_owned()];
    let settings = ClaudeSettings { mcp_servers, allowed_tools, ..bench.settings() };
    let recorded = Recorded::default();
    let agent = bench.agent_with(settings.clone());
    let completion = Conversation::new(&agent).run(bench.fresh("Greet."), &recorded.sink()).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("a greeting from the server"));
    let used = AgentEvent::ToolUse { name: "mcp__own__greet".to_owned(), input: json!({}) };
    assert!(recorded.events().contains(&used), "{:?}", recorded.events());

    let denied = bench.agent_with(ClaudeSettings { allowed_tools: Vec::new(), ..settings.clone() });
    let text = run(&denied, bench.fresh("Greet.")).await.unwrap().text.unwrap();
    assert!(!text.contains("a greeting"), "{text}");

    let reading = |turn| Turn { read_only: true, ..turn };
    let text = run(&agent, reading(bench.fresh("Greet."))).await.unwrap().text;
    assert_eq!(text.as_deref(), Some("There is no such tool."));
    let read_only_tools = vec!["Read".to_owned(), "mcp__own__greet".to_owned()];
    let agent = bench.agent_with(ClaudeSettings { read_only_tools, ..settings });
    let text = run(&agent, reading(bench.fresh("Greet."))).await.unwrap().text;
    assert_eq!(text.as_deref(), Some("a greeting from the server"));
}

#[tokio::test]
async fn the_model_is_the_turns_or_the_settings_or_another_while_that_is_not_to_be_had() {
    let script = Script::new()
        .rule(Rule::any().model("opus").reply(Reaction::status(529, "overloaded")))
        .rule(Rule::any().reply_with(|request: &Request| Reaction::text(request.model())));
    let Some(bench) = Bench::new(script) else { return };
    let fallback_models = vec!["sonnet".to_owned()];
    let agent = bench.agent_with(ClaudeSettings { fallback_models, retries: 4, ..bench.settings() });
    for (model, answering) in [(None, "haiku"), (Some("sonnet"), "sonnet"), (Some("opus"), "sonnet")] {
        let turn = Turn { model: model.map(str::to_owned), ..bench.fresh("Who are you?") };
        let text = run(&agent, turn).await.unwrap().text.unwrap();
        assert!(text.contains(answering), "{model:?}: {text}");
    }
}
