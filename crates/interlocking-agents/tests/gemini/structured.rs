//! Outputs for a schema.

use std::sync::Arc;

use interlocking_agents::{AgentEvent, Schema, Turn};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::place::{Place, run};

fn schema() -> Arc<Schema> {
    let properties = json!({ "sum": { "type": "integer", "description": "of all numbers" } });
    Arc::new(Schema::new(json!({ "type": "object", "required": ["sum"], "properties": properties })).unwrap())
}

#[tokio::test]
async fn an_output_is_asked_for_and_found() {
    let answer = Reaction::text("I have added.\n\n```json\n{ \"sum\": 3 }\n```\n");
    let Some(place) = Place::new(Script::new().rule(Rule::asked("Add 1 and 2.").reply(answer))) else { return };
    let (outcome, _) = run(&place.gemini(), Turn { schema: Some(schema()), ..place.fresh("Add 1 and 2.") }).await;
    assert_eq!(outcome.unwrap().output, json!({ "sum": 3 }));
    let prompt = place.server.requests()[0].prompt();
    assert!(prompt.starts_with("Add 1 and 2.") && prompt.contains("of all numbers"), "{prompt}");
}

#[tokio::test]
async fn an_invalid_output_is_corrected_in_the_same_session() {
    let script = Script::new()
        .rule(Rule::asked("Add 1 and 2.").reply(Reaction::output(json!({ "sum": "three" }))))
        .rule(Rule::asked("sum").history("Add 1 and 2.").reply(Reaction::output(json!({ "sum": 3 }))));
    let Some(place) = Place::new(script) else { return };
    let (outcome, events) = run(&place.gemini(), Turn { schema: Some(schema()), ..place.fresh("Add 1 and 2.") }).await;
    let completion = outcome.unwrap();
    assert_eq!((&completion.output, completion.corrections, completion.usage.calls), (&json!({ "sum": 3 }), 1, 2));
    assert!(events.iter().any(|event| matches!(event, AgentEvent::Correction { round: 1, .. })));
    place.server.assert_all_matched();
}
