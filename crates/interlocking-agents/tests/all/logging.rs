use std::sync::Arc;

use interlocking_agents::{Schema, ScriptedAgent, Turn};
use serde_json::json;

use crate::common::{agent, fresh, fresh_in, run};
use listening::Everything;

#[path = "../listening/mod.rs"]
mod listening;

/// Everything that is logged while the turn runs.
async fn logged(agent: &ScriptedAgent, turn: Turn) -> String {
    let everything = Everything::default();
    // With only one dispatcher, a thread without it (another test) would disable logging for all threads.
    let _second = tracing::Dispatch::new(Everything::default());
    let guard = tracing::subscriber::set_default(everything.clone());
    run(agent, turn).await.unwrap();
    drop(guard);
    everything.0.lock().unwrap().clone()
}

#[tokio::test]
async fn neither_prompts_nor_answers_nor_environment_values_are_logged() {
    let workspace = tempfile::tempdir().unwrap();
    let script = "
        [[turn]]
        text = \"classified answer\"
        run = [{ command = [\"true\"] }]
        output = 1
        [[turn]]
        contains = [\"does not fit\"]
        output = { title = \"classified\", words = 1 }
    ";
    let agent = agent(script).with_env("TOKEN", "classified value");
    let turn = Turn {
        schema: Some(crate::common::article_schema()),
        system: Some("classified rules".to_owned()),
        role: Some("writer".to_owned()),
        ..fresh_in(workspace.path(), "classified prompt")
    };
    let logged = logged(&agent, turn).await;
    for shown in ["agent=\"scripted\"", "role=\"writer\"", "operation=\"fresh\"", "prompt_bytes=17", "session=write-1"]
    {
        assert!(logged.contains(shown), "{shown} in\n{logged}");
    }
    assert!(!logged.contains("classified"), "{logged}");
}

/// CON-38: an ignored decision is logged by its name.
#[tokio::test]
async fn an_ignored_decision_is_logged_without_its_input() {
    let decide = r#"{ tool = "No", input = { value = "classified" } }"#;
    let agent = agent(&format!("[[turn]]\ndecide = [{decide}, {{ tool = \"Yes\" }}, {decide}]"));
    let schema = Schema::new(json!({ "oneOf": [{ "required": ["No"], "properties": { "No": {} } }] })).unwrap();
    let logged = logged(&agent, Turn { schema: Some(Arc::new(schema)), ..fresh("x") }).await;
    for shown in ["message=ignoring a decision, as one is accepted per turn", "tool=\"Yes\"", "tool=\"No\""] {
        assert!(logged.contains(shown), "{shown} in\n{logged}");
    }
    assert!(!logged.contains("classified"), "{logged}");
}
