//! Schemas of derived types, checked by the real program's validator.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlocking_agents::claude::Decisions;
use interlocking_agents::{ClaudeSettings, Schema, Turn};
use interlocking_model_server::{Reaction, Script};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::{Value, json};

use crate::common::{Bench, run};

/// One of everything that schemas are made of.
#[derive(Debug, Serialize, JsonSchema)]
struct Everything {
    number: u64,
    ratio: f32,
    letter: char,
    pair: (u8, String),
    bytes: [u8; 2],
    names: BTreeMap<String, Option<i8>>,
    steps: Vec<Step>,
    any: Value,
}

/// What to do next.
#[derive(Debug, Serialize, JsonSchema)]
enum Step {
    Stop,
    /// Wait so long.
    Wait(u32),
    Move {
        by: (i32, i32),
        then: Option<Box<Self>>,
    },
}

fn everything() -> Everything {
    let step = Step::Move { by: (1, -1), then: Some(Box::new(Step::Wait(3))) };
    let names = BTreeMap::from([("a".to_owned(), None), ("b".to_owned(), Some(-3))]);
    let steps = vec![Step::Stop, step];
    Everything {
        number: 7,
        ratio: 0.5,
        letter: 'ß',
        pair: (1, "x".to_owned()),
        bytes: [1, 2],
        names,
        steps,
        any: json!([null]),
    }
}

async fn asked_for(schema: Value, said: Value, decisions: Decisions) -> Option<Value> {
    let bench = Bench::new(Script::computed(move |_| Reaction::output(said.clone())))?;
    let schema = Some(Arc::new(Schema::new(schema).unwrap()));
    let agent = bench.agent_with(ClaudeSettings { decisions, ..bench.settings() });
    let completion = run(&agent, Turn { schema, ..bench.fresh("Decide.") }).await.unwrap();
    assert_eq!((completion.corrections, bench.server.requests().len()), (0, 1), "taken at once");
    Some(completion.output)
}

#[tokio::test]
async fn a_type_with_everything_in_it() {
    let value = serde_json::to_value(everything()).unwrap();
    let schema = schema_for!(Everything).to_value();
    let Some(output) = asked_for(schema, value.clone(), Decisions::OneOf).await else { return };
    assert_eq!(output, value);
}

/// CON-38, PRG-07: a decision between variants, as one schema or with a field for each variant.
#[tokio::test]
async fn a_sum_type_as_one_schema_or_field_by_field() {
    let schema = schema_for!(Step).to_value();
    let step = serde_json::to_value(Step::Wait(3)).unwrap();
    for (decisions, said) in
        [(Decisions::OneOf, json!({ "value": { "Wait": 3 } })), (Decisions::Fields, json!({ "Wait": { "value": 3 } }))]
    {
        let Some(output) = asked_for(schema.clone(), said, decisions).await else { return };
        assert_eq!(output, step);
    }
}

/// A pair is requested as a list whose items may be any of its parts. A value that this allows and the type does not is
/// corrected.
#[tokio::test]
async fn what_only_our_validator_knows_is_corrected() {
    #[derive(JsonSchema)]
    struct Named {
        #[expect(dead_code, reason = "for its schema")]
        pair: (u8, String),
    }
    let schema = Some(Arc::new(Schema::new(schema_for!(Named).to_value()).unwrap()));
    let script = Script::computed(|request| match request.prompt().contains("/pair/0") {
        true => Reaction::output(json!({ "pair": [1, "x"] })),
        false => Reaction::output(json!({ "pair": ["x", 1] })),
    });
    let Some(bench) = Bench::new(script) else { return };
    let completion = run(&bench.agent(), Turn { schema, ..bench.fresh("Decide.") }).await.unwrap();
    assert_eq!((completion.output, completion.corrections), (json!({ "pair": [1, "x"] }), 1));
}
