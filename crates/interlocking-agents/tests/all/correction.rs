use interlocking_agents::{
    AgentErrorKind, AgentEvent, Conversation, Disposition, NoEvents, Schema, SchemaViolation, Turn,
};
use serde_json::json;

use crate::common::{Recorded, agent, article_schema, fresh, id, run};

fn article(prompt: &str) -> Turn {
    Turn { schema: Some(article_schema()), ..fresh(prompt) }
}

fn violation(path: &str, message: &str) -> SchemaViolation {
    SchemaViolation { path: path.to_owned(), message: message.to_owned() }
}

#[tokio::test]
async fn an_invalid_output_is_corrected_in_the_same_session() {
    let agent = agent(
        r#"
        [[turn]]
        contains = ["Write"]
        session = "fresh"
        output = { words = -1 }
        cost = 0.01
        tokens = { input = 100, output = 10 }

        [[turn]]
        contains = ["does not fit the JSON schema"]
        session = "continue"
        text = "Sorry."
        output = { title = "Borrowing", words = 5 }
        cost = 0.002
        tokens = { input = 20, output = 8 }
        "#,
    );
    let recorded = Recorded::default();
    let completion = Conversation::new(&agent).run(article("Write."), &recorded.sink()).await.unwrap();

    assert_eq!(completion.output, json!({ "title": "Borrowing", "words": 5 }));
    assert_eq!(completion.text.as_deref(), Some("Sorry."));
    assert_eq!((completion.session, completion.corrections), (id("write-1"), 1));
    assert_eq!(completion.usage.to_string(), "$0.012 in 2 calls, 120 tokens in, 18 tokens out");
    assert_eq!(agent.unused(), []);

    let history = agent.history(&id("write-1")).unwrap();
    assert_eq!(
        history[1].prompt,
        "Your last answer does not fit the JSON schema it was asked for.\n\n\
         - at the root: \"title\" is a required property\n\
         - at `/words`: -1 is less than the minimum of 0\n\n\
         Answer again with the complete output, corrected. The work itself need not be done again.\n"
    );

    let kinds: Vec<String> = recorded
        .events()
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["started", "finished", "correction", "started", "text", "finished"]);
    let AgentEvent::Correction { round: 1, violations } = &recorded.events()[2] else { panic!("no correction") };
    assert_eq!(violations.len(), 2);
    let AgentEvent::Finished { session, usage } = &recorded.events()[1] else { panic!("no end") };
    assert_eq!((session.as_ref(), usage.cost.to_string()), (Some(&id("write-1")), "$0.01".to_owned()), "one call's");
}

#[tokio::test]
async fn corrections_are_bounded_and_what_they_cost_is_known() {
    let agent = agent("[[turn]]\ntimes = \"any\"\ncost = 0.5\ntext = \"my best\"\noutput = { title = 3, words = 1 }");
    for (corrections, calls) in [(0, 1), (2, 3), (4, 5)] {
        let conversation = Conversation::new(&agent).with_corrections(corrections);
        let error = conversation.run(article("Write."), &NoEvents).await.unwrap_err();
        assert_eq!(error.usage.calls, calls);
        assert_eq!(error.usage.cost.micro_dollars(), u64::from(calls) * 500_000);
        assert!(error.session.is_some());
        assert_eq!(error.disposition(), Disposition::GiveUp);
        assert_eq!(
            *error.kind,
            AgentErrorKind::OutputInvalid {
                corrections,
                violations: vec![violation("/title", "3 is not of type \"string\"")],
                output: Some(json!({ "title": 3, "words": 1 })),
                text: Some("my best".to_owned()),
            }
        );
    }
    let error = run(&agent, article("Write.")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the output is still invalid after 2 correction rounds: at `/title`: 3 is not of type \"string\"",
        "two rounds by default"
    );
    let stored = serde_json::to_string(&error).unwrap();
    assert_eq!(serde_json::from_str::<interlocking_agents::AgentError>(&stored).unwrap(), error, "it can be stored");
}

#[tokio::test]
async fn text_instead_of_structured_output_is_corrected_too() {
    let agent = agent(
        r#"
        [[turn]]
        contains = ["Write"]
        text = "Here you are."
        [[turn]]
        contains = ["there is no structured output, only text"]
        output = { title = "t", words = 1 }
        "#,
    );
    assert_eq!(run(&agent, article("Write.")).await.unwrap().corrections, 1);
}

#[tokio::test]
async fn without_a_schema_any_answer_will_do() {
    let agent = agent("[[turn]]\noutput = [1, 2]\n[[turn]]\ntext = \"just text\"");
    assert_eq!(run(&agent, fresh("x")).await.unwrap().output, json!([1, 2]));
    let completion = run(&agent, fresh("x")).await.unwrap();
    assert_eq!((completion.output, completion.text.as_deref()), (json!(null), Some("just text")));
}

#[tokio::test]
async fn a_failure_in_a_correction_round_counts_the_rounds_before_it() {
    let agent = agent("[[turn]]\ncontains = [\"Write\"]\noutput = 1\ncost = 0.25");
    let error = run(&agent, article("Write.")).await.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::NoMatch(_)));
    assert_eq!(error.usage.to_string(), "$0.25 in 1 call, 0 tokens in, 0 tokens out");
    assert_eq!(error.session, Some(id("write-1")));
}

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "only what it refuses is used")]
struct Named {
    slugs: Vec<interlocking_agents::Slug>,
}

/// A type may refuse what its schema allows; that is corrected like any other error.
#[tokio::test]
async fn what_the_type_refuses_is_corrected_too() {
    let agent = agent("[[turn]]\noutput = { slugs = [\"fine\", \"Not Fine\"] }\n[[turn]]\noutput = { slugs = [] }");
    let schema = Schema::new(json!({ "properties": { "slugs": { "items": { "type": "string" } } } })).unwrap();
    let turn = Turn { schema: Some(std::sync::Arc::new(schema)), ..fresh("x") };
    let conversation = Conversation::new(&agent).with_check(interlocking_agents::deserializes_as::<Named>);
    let completion = conversation.run(turn, &NoEvents).await.unwrap();
    assert_eq!((completion.output, completion.corrections), (json!({ "slugs": [] }), 1));
    let asked = &agent.history(&id("write-1")).unwrap()[1].prompt;
    assert!(asked.contains("- at `/slugs/1`: \"Not Fine\" is not a slug: use 1 to 64"), "{asked}");
}

/// A small answer can violate its schema in very many places.
#[tokio::test]
async fn of_very_many_violations_the_first_are_listed() {
    let fields: Vec<_> = (0..10).map(|number| format!("field{number}")).collect();
    let schema = Schema::new(json!({ "items": { "type": "object", "required": fields } })).unwrap();
    let agent = agent(&format!("[[turn]]\ntimes = \"any\"\noutput = [{}]", "{}, ".repeat(1_000)));
    let (turn, recorded) = (Turn { schema: Some(std::sync::Arc::new(schema)), ..fresh("x") }, Recorded::default());
    let conversation = Conversation::new(&agent).with_corrections(1);
    let error = conversation.run(turn, &recorded.sink()).await.unwrap_err();

    let AgentErrorKind::OutputInvalid { violations, .. } = &*error.kind else { panic!("{error}") };
    assert_eq!(violations.len(), 51);
    assert_eq!(violations[0], violation("/0", "\"field0\" is a required property"));
    assert_eq!(violations[50], violation("", "there are more violations than are listed here"));
    assert!(error.to_string().len() < 9 * 1024);
    let corrected = AgentEvent::Correction { round: 1, violations: violations.clone() };
    assert!(recorded.events().contains(&corrected));
    let asked = &agent.history(&id("write-1")).unwrap()[1].prompt;
    assert!(asked.len() < 8 * 1024, "{} bytes", asked.len());
    assert!(asked.contains("\n- at the root: there are more violations than are listed here\n\n"), "{asked}");
}

#[tokio::test]
async fn of_what_a_check_finds_the_first_are_listed() {
    let agent = agent("[[turn]]\ntimes = \"any\"\noutput = 1");
    let check = |_: &serde_json::Value| vec![violation("/a", &"ä".repeat(100_000)); 100];
    let conversation = Conversation::new(&agent).with_corrections(1).with_check(check);
    let error = conversation.run(fresh("x"), &NoEvents).await.unwrap_err();
    assert!(error.to_string().len() < 9 * 1024);
    let asked = &agent.history(&id("write-1")).unwrap()[1].prompt;
    assert!(asked.len() < 20 * 1024, "{} bytes", asked.len());
    assert!(asked.contains("there are more violations"), "{asked}");
}

#[derive(schemars::JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Review {
    Approved { score: u8 },
    Rejected { reasons: Vec<String> },
}

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum Step {
    Done { at: u8 },
    Next { reasons: Vec<String> },
}

/// The schemas that schemars generates for Rust types are supported as they are, and an invalid variant is explained by
/// the variant that was meant, not by "none of them".
#[test]
fn schemas_of_rust_enums_explain_what_is_wrong_with_the_variant_that_was_meant() {
    let tagged = Schema::new(schemars::schema_for!(Review).to_value()).unwrap();
    assert_eq!(tagged.violations(&json!({ "verdict": "approved", "score": 200 })), []);
    let found = tagged.violations(&json!({ "verdict": "rejected", "reasons": "bad" }));
    assert_eq!(found.len(), 1);
    assert!(found[0].message.ends_with("; at `/reasons`: \"bad\" is not of type \"array\""), "{found:?}");
    let found = tagged.violations(&json!({ "verdict": "approved" }));
    assert!(found[0].message.ends_with("; at the root: \"score\" is a required property"), "{found:?}");
    let found = tagged.violations(&json!({ "verdict": "neither" }));
    assert!(!found[0].message.contains(';'), "nothing is guessed: {found:?}");

    let plain = Schema::new(schemars::schema_for!(Step).to_value()).unwrap();
    let found = plain.violations(&json!({ "Next": { "reasons": [1] } }));
    assert!(found[0].message.ends_with("; at `/Next/reasons/0`: 1 is not of type \"string\""), "{found:?}");
}

#[test]
fn what_is_not_a_schema_is_refused() {
    let not_json = Schema::from_text("{").unwrap_err().to_string();
    assert!(not_json.starts_with("the schema is not JSON: EOF"), "{not_json}");
    let wrong = Schema::from_text(r#"{"type": "strnig"}"#).unwrap_err().to_string();
    assert!(wrong.starts_with("not a JSON schema, at `/type`: \"strnig\" is not"), "{wrong}");
    let outside = Schema::from_text(r#"{"$ref": "https://example.com/other.json"}"#);
    assert!(outside.is_err(), "nothing is fetched");
    let kept = Schema::from_text(r#"{"type": "string"}"#).unwrap();
    assert_eq!(kept.as_value(), &json!({ "type": "string" }));
}

#[test]
fn long_values_do_not_flood_a_violation() {
    let schema = Schema::new(json!({ "type": "integer" })).unwrap();
    let found = schema.violations(&json!("ä".repeat(10_000)));
    assert!(found[0].message.chars().count() < 500);
    assert!(found[0].message.ends_with("is not of type \"integer\""), "{}", found[0].message);

    let many = Schema::new(json!({ "items": { "type": "integer" } })).unwrap();
    let found = many.violations(&json!(vec!["ä".repeat(10_000); 49]));
    let bytes: usize = found.iter().map(|violation| violation.path.len() + violation.message.len()).sum();
    assert!(found.len() < 49 && bytes < 17 * 1024, "{} of {bytes} bytes", found.len());
    assert_eq!(found.last(), Some(&violation("", "there are more violations than are listed here")));

    let named = Schema::new(json!({ "additionalProperties": { "type": "integer" } })).unwrap();
    let name = "ä".repeat(10_000);
    let found = named.violations(&json!({ name: "x" }));
    assert!(found[0].path.starts_with("/ää") && found[0].path.chars().count() < 500, "{}", found[0].path);

    let variants = Schema::new(schemars::schema_for!(Step).to_value()).unwrap();
    let found = variants.violations(&json!({ "Next": { "reasons": vec![1; 1_000] } }));
    assert!(found[0].message.contains("; at `/Next/reasons/0`: 1 is not of type \"string\"; at `/Next/reasons/1`: "));
    assert!(found[0].message.ends_with(" …") && found[0].message.len() < 2_000, "{}", found[0].message);
}
