use std::collections::BTreeSet;
use std::fmt::Debug;

use interlocking_agents::{DecisionTool, Schema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a reviewer of tests may decide; a variant of every kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Verdict {
    Approved,
    /// Nothing here can be reviewed.
    NotReviewable,
    /// The tests leave something out.
    MoreTests(Report),
    Reject {
        reasons: Vec<Reason>,
        report: Option<Report>,
    },
    Stuck(String),
    Split(u8, String),
    Perhaps(Option<Report>),
    Escalate(Reason),
    Nothing(()),
    Nobody {},
    /// After another look.
    OnSecondThought(Box<Self>),
    #[serde(rename = "Später/vielleicht ~")]
    Later {
        days: u8,
    },
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Report {
    summary: String,
    parts: Vec<Self>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Reason {
    Unclear,
    /// It is wrong.
    Wrong {
        because: String,
    },
    Reported(Report),
    Nested(Inner),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "inner")]
enum Inner {
    One { number: u8 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", content = "with")]
enum Adjacent {
    Done,
    Reported(Report),
    Stuck(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Plain {
    TestsPassed,
    RequestRetry,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
enum Strict {
    Stop,
    Go { to: u8 },
}

fn schema<T: JsonSchema>() -> Schema {
    Schema::new(schemars::schema_for!(T).to_value()).unwrap()
}

fn tools<T: JsonSchema>() -> Vec<DecisionTool> {
    schema::<T>().decisions().unwrap()
}

fn names(tools: &[DecisionTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn report() -> Report {
    Report { summary: "thin".to_owned(), parts: vec![Report { summary: "edge".to_owned(), parts: vec![] }] }
}

fn report_json() -> Value {
    json!({ "summary": "thin", "parts": [{ "summary": "edge", "parts": [] }] })
}

/// Calls and values correspond: the tool accepts the input and converts it to what serde makes of the value; the schema
/// and serde accept the result. Each tool stands for one of the values.
fn assert_calls_are_values<T>(table: Vec<(&str, Value, T)>)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema,
{
    let (schema, tools) = (schema::<T>(), tools::<T>());
    assert_eq!(names(&tools), table.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    for (tool, (name, input, value)) in tools.iter().zip(table) {
        let made = tool.value(input.clone());
        assert_eq!(made, serde_json::to_value(&value).unwrap(), "{name}");
        assert_eq!(schema.violations(&made), [], "{name}");
        assert_eq!(serde_json::from_value::<T>(made).unwrap(), value);

        let own = Schema::new(tool.input_schema.clone()).expect("a schema that stands alone");
        assert_eq!(own.violations(&input), [], "{name}");
        assert_ne!(own.violations(&json!("text")), [], "{name}: an input is an object");
        assert_eq!(tool.input_schema["type"], "object", "{name}");
        for refused in ["oneOf", "anyOf", "allOf", "$ref"] {
            assert!(tool.input_schema.get(refused).is_none(), "{name}: {refused} at the root");
        }
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        assert!((1..=64).contains(&tool.name.len()) && tool.name.bytes().all(safe), "{name}");
    }
}

/// PRG-07, CON-38: one tool per variant, and the conversion back.
#[test]
fn every_variant_has_a_tool_and_every_call_is_a_value() {
    assert_calls_are_values(vec![
        ("Approved", json!({}), Verdict::Approved),
        ("NotReviewable", json!({}), Verdict::NotReviewable),
        ("MoreTests", report_json(), Verdict::MoreTests(report())),
        (
            "Reject",
            json!({ "reasons": [{ "kind": "wrong", "because": "x" }], "report": report_json() }),
            Verdict::Reject { reasons: vec![Reason::Wrong { because: "x".to_owned() }], report: Some(report()) },
        ),
        ("Stuck", json!({ "value": "no compiler" }), Verdict::Stuck("no compiler".to_owned())),
        ("Split", json!({ "value": [2, "a and b"] }), Verdict::Split(2, "a and b".to_owned())),
        ("Perhaps", json!({ "value": null }), Verdict::Perhaps(None)),
        ("Escalate", json!({ "value": { "kind": "unclear" } }), Verdict::Escalate(Reason::Unclear)),
        ("Nothing", json!({ "value": null }), Verdict::Nothing(())),
        ("Nobody", json!({}), Verdict::Nobody {}),
        (
            "OnSecondThought",
            json!({ "value": { "OnSecondThought": "Approved" } }),
            Verdict::OnSecondThought(Box::new(Verdict::OnSecondThought(Box::new(Verdict::Approved)))),
        ),
        ("Sp_ter_vielleicht__", json!({ "days": 3 }), Verdict::Later { days: 3 }),
    ]);
}

/// PRG-07
#[test]
fn enums_that_are_tagged_inside_have_tools_too() {
    assert_calls_are_values(vec![
        ("unclear", json!({}), Reason::Unclear),
        ("wrong", json!({ "because": "x" }), Reason::Wrong { because: "x".to_owned() }),
        ("reported", report_json(), Reason::Reported(report())),
        ("nested", json!({ "value": { "inner": "One", "number": 1 } }), Reason::Nested(Inner::One { number: 1 })),
    ]);
    assert_calls_are_values(vec![
        ("Done", json!({}), Adjacent::Done),
        ("Reported", json!({ "with": report_json() }), Adjacent::Reported(report())),
        ("Stuck", json!({ "with": "x" }), Adjacent::Stuck("x".to_owned())),
    ]);
    assert_calls_are_values(vec![
        ("tests-passed", json!({}), Plain::TestsPassed),
        ("request-retry", json!({}), Plain::RequestRetry),
    ]);
    assert_calls_are_values(vec![("Stop", json!({}), Strict::Stop), ("Go", json!({ "to": 1 }), Strict::Go { to: 1 })]);
}

/// PRG-07: the tool's own schema is exactly as strict as the variant's: not looser, so that an invalid input is found,
/// and not stricter.
#[test]
fn a_tool_has_the_schema_of_its_variant_with_the_definitions_it_needs() {
    let tools = tools::<Verdict>();
    let report_definition = &schema::<Verdict>().as_value()["$defs"]["Report"].clone();
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(
        tools[0].input_schema,
        json!({ "$schema": dialect, "type": "object", "properties": {}, "additionalProperties": false })
    );
    assert_eq!(
        tools[2].input_schema,
        json!({
            "$schema": dialect,
            "$defs": { "Report": report_definition },
            "description": "What was found.",
            "type": "object",
            "properties": {
                "summary": { "type": "string" },
                "parts": { "type": "array", "items": { "$ref": "#/$defs/Report" } }
            },
            "required": ["summary", "parts"]
        })
    );
    assert_eq!(
        tools[4].input_schema,
        json!({
            "$schema": dialect,
            "type": "object",
            "properties": { "value": { "type": "string" } },
            "required": ["value"],
            "additionalProperties": false
        })
    );
    let definitions = |tool: &DecisionTool| {
        let found = tool.input_schema["$defs"].as_object().unwrap();
        // The order of the map is not reliable.
        found.keys().cloned().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(definitions(&tools[3]), ["Inner", "Reason", "Report"], "what a definition needs comes along");
    assert_eq!(
        definitions(&tools[10]),
        ["Decision", "Inner", "Reason", "Report"],
        "the enum itself, for a recursive one"
    );

    let recursive = Schema::new(tools[10].input_schema.clone()).unwrap();
    assert_eq!(recursive.violations(&json!({ "value": { "Stuck": "x" } })), []);
    assert_eq!(recursive.violations(&json!({ "value": { "Stuck": 3 } })).len(), 1);
    let reject = Schema::new(tools[3].input_schema.clone()).unwrap();
    assert_eq!(reject.violations(&json!({ "reasons": [{ "kind": "wrong" }] })).len(), 1);
}

#[test]
fn a_tool_is_described_by_the_doc_comment_of_the_variant_or_of_what_it_holds() {
    let described = |tool: &DecisionTool| tool.description.clone().unwrap_or_default();
    let verdicts = tools::<Verdict>();
    assert_eq!(described(&verdicts[0]), "");
    assert_eq!(described(&verdicts[1]), "Nothing here can be reviewed.");
    assert_eq!(described(&verdicts[2]), "The tests leave something out.");
    let reasons = tools::<Reason>();
    assert_eq!(described(&reasons[1]), "It is wrong.");
    assert_eq!(described(&reasons[2]), "What was found.");
}

/// A definition that has the same name as the copy of the whole schema is not changed.
#[test]
fn a_recursive_enum_may_have_a_definition_of_any_name() {
    let schema = Schema::new(json!({
        "oneOf": [
            { "type": "object", "properties": { "Again": { "$ref": "#" } }, "required": ["Again"] },
            { "type": "object", "properties": { "Inside": { "$ref": "#/oneOf/0/properties" } }, "required": ["Inside"] },
            { "type": "object", "properties": { "Text": { "$ref": "#/$defs/Decision" } }, "required": ["Text"] }
        ],
        "$defs": { "Decision": { "type": "string" } }
    }))
    .unwrap();
    let tools = schema.decisions().unwrap();
    let own = |index: usize| Schema::new(tools[index].input_schema.clone()).unwrap();
    assert_eq!(own(0).violations(&json!({ "value": { "Text": "x" } })), []);
    assert_eq!(own(0).violations(&json!({ "value": { "Text": 3 } })).len(), 1);
    assert_eq!(own(2).violations(&json!({ "value": "x" })), []);
    assert_eq!(own(2).violations(&json!({ "value": { "Text": "x" } })).len(), 1);
}

#[test]
fn drafts_before_2019_have_their_definitions_elsewhere() {
    let settings = schemars::generate::SchemaSettings::draft07();
    let schema = Schema::new(settings.into_generator().into_root_schema_for::<Verdict>().to_value()).unwrap();
    let tools = schema.decisions().unwrap();
    assert_eq!(tools[2].input_schema["definitions"].as_object().unwrap().len(), 1);
    let own = Schema::new(tools[2].input_schema.clone()).unwrap();
    assert_eq!(own.violations(&report_json()), []);
    assert_eq!(own.violations(&json!({ "summary": "x", "parts": [3] })).len(), 1);
}

#[test]
fn names_of_tools_are_safe_and_distinct() {
    let long = "x".repeat(70);
    let tags = ["a b", "a_b", "a/b", "", &long, &format!("{long}y"), "ok-1"];
    let schema = Schema::new(json!({ "enum": tags })).unwrap();
    let tools = schema.decisions().unwrap();
    let (cut, numbered) = ("x".repeat(64), format!("{}_2", "x".repeat(62)));
    assert_eq!(names(&tools), ["a_b", "a_b_2", "a_b_3", "_", &cut, &numbered, "ok-1"]);
    assert_eq!(tools.iter().map(|tool| tool.value(json!({}))).collect::<Vec<_>>(), tags.map(Value::from));
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Untagged {
    Number(u8),
    Text(String),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct WithChoice {
    note: String,
    #[serde(flatten)]
    choice: Reason,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Only(Plain);

#[derive(JsonSchema)]
enum Never {}

/// PRG-07: a type that is not an enum has no decisions, and is requested as a whole.
#[test]
fn what_is_not_a_sum_type_has_no_tools() {
    assert_eq!(schema::<Report>().decisions(), None);
    assert_eq!(schema::<Untagged>().decisions(), None);
    assert_eq!(schema::<Option<Plain>>().decisions(), None);
    assert_eq!(schema::<WithChoice>().decisions(), None, "it has a field beside the choice");
    assert_eq!(schema::<Never>().decisions(), None);
    assert_eq!(schema::<u8>().decisions(), None);
    for other in [
        json!(true),
        json!({}),
        json!({ "enum": [1, 2] }),
        json!({ "enum": [] }),
        json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] }),
        json!({ "oneOf": [{ "const": "twice" }, { "const": "twice" }] }),
        json!({ "oneOf": [{ "properties": { "Optional": {} } }] }),
        json!({ "oneOf": [{ "properties": { "A": {}, "B": {} }, "required": ["A"] }] }),
        json!({ "oneOf": [{ "const": "A" }, { "const": 3 }] }),
        json!({ "$ref": "#" }),
    ] {
        assert_eq!(Schema::new(other.clone()).unwrap().decisions(), None, "{other}");
    }
    assert_eq!(names(&tools::<Only>()), ["tests-passed", "request-retry"], "a newtype of a sum type is one");
}
