//! Structured output: sent in OpenAI's dialect, not checked by Codex, checked by this crate.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlocking_agents::{AgentErrorKind, AgentEvent, Conversation, Schema, Turn, deserializes_as};
use interlocking_model_server::{Reaction, Request, Rule, Script};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::place::{Events, Place, run};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Verdict {
    Approved,
    Rejected { reasons: Vec<String>, by_file: BTreeMap<String, u32>, score: Option<u8> },
}

fn verdict() -> Arc<Schema> {
    Arc::new(Schema::new(serde_json::to_value(schema_for!(Verdict)).unwrap()).unwrap())
}

fn judged(turn: Turn) -> Turn {
    Turn { schema: Some(verdict()), ..turn }
}

#[tokio::test]
async fn a_sum_type_with_a_map_and_an_option() {
    let answer = json!({ "answer": { "Rejected": {
        "reasons": ["long"], "by_file": [{ "key": "a.rs", "value": 3 }], "score": null
    } } });
    let script = Script::new().rule(Rule::asked("Judge").reply(Reaction::output(answer)));
    let Some(place) = Place::new(script) else { return };
    let completion = run(&place.codex(), judged(place.fresh("Judge it."))).await.0.unwrap();

    let by_file = BTreeMap::from([("a.rs".to_owned(), 3)]);
    let expected = Verdict::Rejected { reasons: vec!["long".to_owned()], by_file, score: None };
    assert_eq!(serde_json::from_value::<Verdict>(completion.output).unwrap(), expected);
    assert_eq!(completion.corrections, 0);
    let [request] = &place.server.requests()[..] else { panic!("one request") };
    let format = request.body.pointer("/text/format").unwrap();
    assert_eq!((&format["type"], &format["strict"]), (&json!("json_schema"), &json!(true)));
    let sent = request.schema().unwrap();
    assert_eq!((&sent["type"], &sent["additionalProperties"]), (&json!("object"), &json!(false)));
    assert!(!sent.to_string().contains("oneOf"), "{sent}");
}

/// The model is asked to correct the output in the same session until it is valid, although Codex reported success.
#[tokio::test]
async fn an_invalid_output_and_then_its_correction() {
    let fixed = Rule::any()
        .prompt(Conversation::CORRECTION_PROMPT)
        .when("the first answer is known", |request: &Request| request.texts().any(|text| text.contains("Maybe")))
        .reply(Reaction::output(json!({ "answer": "Approved" })));
    let script =
        Script::new().rule(fixed).rule(Rule::asked("Judge").reply(Reaction::output(json!({ "answer": "Maybe" }))));
    let Some(place) = Place::new(script) else { return };
    let (outcome, events) = run(&place.codex(), judged(place.fresh("Judge it."))).await;

    let completion = outcome.unwrap();
    assert_eq!((completion.output, completion.corrections, completion.usage.calls), (json!("Approved"), 1, 2));
    assert!(events.iter().any(|event| matches!(event, AgentEvent::Correction { round: 1, .. })));
    place.server.assert_all_matched();
}

#[tokio::test]
async fn an_output_that_stays_invalid_fails_with_all_that_it_cost() {
    let Some(place) = Place::new(Script::new().rule(Rule::any().reply(Reaction::text("I would rather talk.")))) else {
        return;
    };
    let error = run(&place.codex(), judged(place.fresh("Judge it."))).await.0.unwrap_err();
    let AgentErrorKind::OutputInvalid { corrections: 2, output: None, text: Some(text), .. } = *error.kind else {
        panic!("{error}")
    };
    assert_eq!((text.as_str(), error.usage.calls), ("I would rather talk.", 3));
}

/// A constraint of the type that the schema does not contain.
#[tokio::test]
async fn what_only_the_type_knows_is_corrected_too() {
    #[derive(Deserialize)]
    struct Port(#[expect(dead_code, reason = "only read")] std::num::NonZeroU16);
    let schema =
        Schema::new(json!({ "type": "object", "properties": { "port": { "type": "integer" } }, "required": ["port"] }));
    let script = Script::new()
        .rule(Rule::any().prompt(Conversation::CORRECTION_PROMPT).reply(Reaction::output(json!({ "port": 80 }))))
        .rule(Rule::any().reply(Reaction::output(json!({ "port": 0 }))));
    let Some(place) = Place::new(script) else { return };
    let codex = place.codex();
    let conversation = Conversation::new(&codex).with_check(|output| deserializes_as::<Port>(&output["port"]));
    let turn = Turn { schema: Some(Arc::new(schema.unwrap())), ..place.fresh("Which port?") };
    let completion = conversation.run(turn, &Events::default().sink()).await.unwrap();
    assert_eq!((completion.output, completion.corrections), (json!({ "port": 80 }), 1));
}
