//! Searches for a key in everything that a run leaves behind, and in everything that the agent's commands see.

use std::path::Path;
use std::sync::{Arc, Mutex};

use interlocking_agents::claude::Credential;
use interlocking_agents::program::Secret;
use interlocking_agents::{AgentEvent, ClaudeCode, ClaudeSettings, Conversation};
use interlocking_model_server::{Reaction, Request, Rule, Script};
use serde_json::json;
use tracing::field::{Field, Visit};

use crate::common::{Bench, CANARY, Recorded};

/// Prints everything that a command can read without a debugger.
const LOOKING: &str = "env; cat /proc/self/environ /proc/$PPID/environ /proc/$PPID/cmdline; for fd in /proc/$PPID/fd/*; do timeout 0.2 \
                       cat $fd </dev/null 2>/dev/null | head -c 1000; done; ps -eo args 2>/dev/null; set; find $TMPDIR -type f -exec cat {} +; exit 3";

fn looking() -> Script {
    let looking = Reaction::tool("Bash", json!({ "command": LOOKING, "description": "look" }));
    Script::new()
        .rule(Rule::asked("Look").reply(looking))
        .rule(Rule::any().reply_with(|request: &Request| Reaction::text(request.last_results().join("\n"))))
}

fn files_with(directory: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if let Ok(content) = std::fs::read(&path)
            && String::from_utf8_lossy(&content).contains(needle)
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn the_agents_commands_do_not_see_the_key_and_nothing_keeps_it() {
    let api = Credential::ApiKey { variable: "UNUSED".to_owned() };
    let oauth = Credential::OauthToken { variable: "UNUSED".to_owned() };
    for (credential, header) in [(api, "x-api-key"), (oauth, "authorization")] {
        let Some(bench) = Bench::new(looking()) else { return };
        let settings =
            ClaudeSettings { credential: Some(credential), allowed_tools: vec!["Bash".to_owned()], ..bench.settings() };
        let (agent, recorded) = (bench.agent_with(settings), Recorded::default());
        let completion = Conversation::new(&agent).run(bench.fresh("Look."), &recorded.sink()).await.unwrap();
        let seen = completion.text.clone().unwrap();
        assert!(seen.contains("CLAUDE_CONFIG_DIR="), "it did look: {seen}");
        assert!(!format!("{completion:?} {:?}", recorded.events()).contains(CANARY), "{seen}");
        assert!(!format!("{agent:?}").contains(CANARY));
        assert_eq!(files_with(bench.directory(), CANARY), Vec::<String>::new());
        let requests = bench.server.requests();
        assert!(requests.iter().all(|request| request.header(header).unwrap().contains(CANARY)), "the provider got it");
        assert!(requests.iter().all(|request| !request.body.to_string().contains(CANARY)), "the model did not");
    }
}

/// The program reads a gateway's token only from the environment. It is removed from what this crate passes on
/// nevertheless.
#[tokio::test]
async fn a_token_that_the_commands_see_is_taken_out_of_what_we_pass_on() {
    let Some(bench) = Bench::new(looking()) else { return };
    let credential = Some(Credential::AuthToken { variable: "UNUSED".to_owned() });
    let settings = ClaudeSettings { credential, allowed_tools: vec!["Bash".to_owned()], ..bench.settings() };
    let (agent, recorded) = (bench.agent_with(settings), Recorded::default());
    let completion = Conversation::new(&agent).run(bench.fresh("Look."), &recorded.sink()).await.unwrap();
    assert!(completion.text.clone().unwrap().contains("ANTHROPIC_AUTH_TOKEN=[redacted]"));
    assert!(!format!("{completion:?} {:?}", recorded.events()).contains(CANARY));
    // The program writes the output of its commands to its sessions, and sends it to the model; this crate cannot
    // prevent that.
    assert!(!files_with(bench.directory(), CANARY).is_empty());
    assert_eq!(bench.server.requests()[0].header("authorization"), Some(&*format!("Bearer {CANARY}")));
}

#[tokio::test]
async fn a_provider_that_echoes_the_key_in_its_refusal_does_not_get_it_into_our_error() {
    let echo =
        |request: &Request| Reaction::status(401, format!("invalid key {}", request.header("x-api-key").unwrap_or("")));
    let Some(bench) = Bench::new(Script::computed(echo)) else { return };
    let (agent, recorded) = (bench.agent(), Recorded::default());
    let error = Conversation::new(&agent).run(bench.fresh("Look."), &recorded.sink()).await.unwrap_err();
    let shown = format!("{error} {error:?} {:?} {}", recorded.events(), serde_json::to_string(&error).unwrap());
    assert!(shown.contains("invalid key [redacted]") && !shown.contains(CANARY), "{shown}");
}

#[tokio::test]
async fn no_log_has_the_key_or_the_prompt() {
    let Some(bench) = Bench::new(looking()) else { return };
    let log = Log::default();
    let lines = Arc::clone(&log.0);
    let guard = tracing::subscriber::set_default(log);
    let settings = ClaudeSettings { allowed_tools: vec!["Bash".to_owned()], ..bench.settings() };
    let agent = bench.agent_with(settings);
    Conversation::new(&agent).run(bench.fresh("Look, said the prompt."), &|_event: AgentEvent| {}).await.unwrap();
    let missing = ClaudeCode::new(ClaudeSettings { program: "/no/such/program".into(), ..bench.settings() });
    let missing = missing.with_key(Secret::new(CANARY));
    Conversation::new(&missing).run(bench.fresh("Look, said the prompt."), &|_event: AgentEvent| {}).await.unwrap_err();
    drop(guard);
    let lines = lines.lock().unwrap().join("\n");
    assert!(lines.contains("prompt_bytes"), "something was logged: {lines}");
    assert!(!lines.contains(CANARY) && !lines.contains("said the prompt"), "{lines}");
}

/// A subscriber that keeps every field.
#[derive(Default)]
struct Log(Arc<Mutex<Vec<String>>>);

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        let mut line = String::new();
        span.record(&mut Line(&mut line));
        self.0.lock().unwrap().push(line);
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = String::new();
        event.record(&mut Line(&mut line));
        self.0.lock().unwrap().push(line);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
