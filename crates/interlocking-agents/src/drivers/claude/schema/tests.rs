use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use jsonschema::{Draft, Validator};
use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Report {
    title: String,
    words: u32,
    ratio: Option<f64>,
    pair: (u8, String),
    pairs: Vec<(bool, Option<i64>)>,
    bytes: [u8; 3],
    scores: BTreeMap<String, i8>,
    /// What was found.
    findings: Vec<Finding>,
    letter: char,
    unit: (),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Finding {
    Nothing,
    /// In a line.
    Line(u64),
    Span(u32, u32),
    Text {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        within: Option<Box<Self>>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Verdict {
    Approved,
    Rejected { reasons: Vec<String> },
    Deferred(Until),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Until {
    days: u8,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "value")]
enum Adjacent {
    Number(i32),
    Pair(String, bool),
    None,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i32),
    Words(Vec<String>),
    Report { title: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Self>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Level {
    Low,
    High,
}

fn schema_of<T: JsonSchema>() -> Schema {
    Schema::new(schema_for!(T).to_value()).unwrap()
}

fn in_old_draft(schema: &Value) -> Validator {
    jsonschema::options().with_draft(Draft::Draft7).build(schema).unwrap()
}

/// The answer of a model that means this value and was given this schema.
fn said(schema: &Schema, asked: &Asked, value: &Value) -> Value {
    match asked.form {
        Form::Whole => value.clone(),
        Form::Wrapped => json!({ WRAPPED: value }),
        Form::Fields => {
            let tools = schema.decisions().unwrap();
            let inputs = |tool: &DecisionTool| {
                let payload = value.get(&tool.name).cloned();
                let inner = value.as_object().map(|fields| {
                    Value::Object(
                        fields
                            .iter()
                            .filter(|(name, _)| *name != "kind")
                            .map(|(n, v)| (n.clone(), v.clone()))
                            .collect(),
                    )
                });
                [payload.clone(), payload.map(|held| json!({ "value": held })), inner, Some(json!({}))]
            };
            let mut calls =
                tools.iter().flat_map(|tool| inputs(tool).into_iter().flatten().map(move |input| (tool, input)));
            let means = |(tool, input): &(&DecisionTool, Value)| {
                tool.violations(input).is_empty() && tool.value(input.clone()) == *value
            };
            let (tool, input) = calls.find(means).expect("some call means it");
            json!({ tool.name.clone(): input })
        }
    }
}

/// Converts in both directions: every valid value is valid for the converted schema, in both drafts, and is converted
/// back unchanged.
fn assert_round_trip<T: JsonSchema + Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let schema = schema_of::<T>();
    let value_as_json = serde_json::to_value(value).unwrap();
    assert!(schema.violations(&value_as_json).is_empty());
    for decisions in [Decisions::OneOf, Decisions::Fields] {
        let asked = Asked::new(&schema, decisions);
        let said = said(&schema, &asked, &value_as_json);
        assert_eq!(asked.schema["type"], "object");
        assert!(in_old_draft(&asked.schema).is_valid(&said), "{said} in {}", asked.schema);
        assert!(jsonschema::validator_for(&asked.schema).unwrap().is_valid(&said), "{said} in {}", asked.schema);
        let back = match asked.answer(said) {
            Answered::Output(output) => output,
            Answered::Decisions(decisions) => {
                let [Decision { tool, input }] = &decisions[..] else { panic!("one decision") };
                let tools = schema.decisions().unwrap();
                tools.iter().find(|offered| offered.name == *tool).unwrap().value(input.clone())
            }
        };
        assert_eq!(back, value_as_json);
        assert_eq!(serde_json::from_value::<T>(back).unwrap(), *value);
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-zäß \"/~.]{0,6}"
}

fn finding() -> impl Strategy<Value = Finding> {
    let leaf = prop_oneof![
        Just(Finding::Nothing),
        any::<u64>().prop_map(Finding::Line),
        any::<(u32, u32)>().prop_map(|(from, to)| Finding::Span(from, to)),
    ];
    leaf.prop_recursive(3, 8, 1, |inner| {
        (text(), proptest::option::of(inner))
            .prop_map(|(text, within)| Finding::Text { text, within: within.map(Box::new) })
    })
}

fn report() -> impl Strategy<Value = Report> {
    let numbers = (any::<u32>(), proptest::option::of(-1e6..1e6), any::<[u8; 3]>(), any::<char>());
    let lists = (
        proptest::collection::vec(any::<(bool, Option<i64>)>(), 0..3),
        proptest::collection::btree_map(text(), any::<i8>(), 0..3),
        proptest::collection::vec(finding(), 0..3),
    );
    (text(), (any::<u8>(), text()), numbers, lists).prop_map(
        |(title, pair, (words, ratio, bytes, letter), (pairs, scores, findings))| Report {
            title,
            words,
            ratio,
            pair,
            pairs,
            bytes,
            scores,
            findings,
            letter,
            unit: (),
        },
    )
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = text().prop_map(|name| Tree { name, children: Vec::new() });
    leaf.prop_recursive(3, 8, 3, |inner| {
        (text(), proptest::collection::vec(inner, 0..3)).prop_map(|(name, children)| Tree { name, children })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// CON-38, PRG-07: a type that is not an object, or that is an enum, can be requested and is converted back.
    #[test]
    fn values_of_derived_types_go_there_and_back(
        report in report(), finding in finding(), tree in tree(), days in any::<u8>(), word in text(), number in any::<i32>(),
        flag in any::<bool>(), words in proptest::collection::vec(text(), 0..3),
    ) {
        assert_round_trip(&report);
        assert_round_trip(&finding);
        assert_round_trip(&vec![tree.clone()]);
        assert_round_trip(&tree);
        assert_round_trip(&Verdict::Rejected { reasons: words.clone() });
        assert_round_trip(&Verdict::Deferred(Until { days }));
        assert_round_trip(&Adjacent::Pair(word.clone(), flag));
        assert_round_trip(&Adjacent::Number(number));
        assert_round_trip(&Untagged::Words(words));
        assert_round_trip(&Untagged::Report { title: word.clone() });
        assert_round_trip(&(number, word.clone(), flag));
        assert_round_trip(&Some(number));
        assert_round_trip(&word);
        assert_round_trip(&BTreeMap::from([(word, number)]));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// For any value, and for a keyword at any place: no valid value becomes invalid.
    #[test]
    fn a_schema_is_only_ever_loosened(value in value(), first in 0..PARTS.len(), second in 0..PARTS.len(), frame in 0..FRAMES.len()) {
        let parts: [Value; 2] = [first, second].map(|index| serde_json::from_str(PARTS[index]).unwrap());
        let text = FRAMES[frame].replace("FIRST", &parts[0].to_string()).replace("SECOND", &parts[1].to_string());
        let original: Value = serde_json::from_str(&text).unwrap();
        let converted = convert(&original);
        // A schema that is invalid in its own draft cannot be requested.
        let Ok(validator) = jsonschema::validator_for(&original) else { return Ok(()) };
        if validator.is_valid(&value) {
            prop_assert!(in_old_draft(&converted).is_valid(&value), "{value} in {converted}");
            prop_assert!(jsonschema::validator_for(&converted).unwrap().is_valid(&value), "{value} in {converted}");
        }
    }
}

/// Small values of every kind, so that many of them are valid.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..4_i64).prop_map(Value::from),
        prop_oneof![Just("a"), Just("b"), Just("abc"), Just("")].prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(prop_oneof![Just("a"), Just("b")].prop_map(str::to_owned), inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

const PARTS: [&str; 18] = [
    r#"true"#,
    r#"{ "type": "integer", "format": "uint8" }"#,
    r#"{ "type": "string", "pattern": "(?i)^A" }"#,
    r#"{ "prefixItems": [{ "type": "integer" }, { "type": "string" }], "items": false }"#,
    r#"{ "prefixItems": [{ "type": "integer" }], "minItems": 1, "maxItems": 1 }"#,
    r#"{ "prefixItems": [{ "type": "string" }] }"#,
    r#"{ "type": "array", "items": { "enum": [1, 1, "a"] } }"#,
    r#"{ "contains": { "const": 1 }, "minContains": 0 }"#,
    r#"{ "contains": { "const": 1 } }"#,
    r#"{ "not": { "prefixItems": [{ "const": 1 }] } }"#,
    r#"{ "not": { "type": "string" } }"#,
    r#"{ "dependentRequired": { "a": ["b"] } }"#,
    r#"{ "properties": { "a": { "type": "integer" } }, "unevaluatedProperties": false }"#,
    r#"{ "patternProperties": { "(?i)^A": { "type": "integer" } }, "additionalProperties": false }"#,
    r#"{ "patternProperties": { "^a": { "type": "integer" } }, "additionalProperties": false }"#,
    r#"{ "if": { "prefixItems": [{ "const": 1 }] }, "then": { "minItems": 2 } }"#,
    r#"{ "if": { "type": "string" }, "then": { "minLength": 1 }, "else": { "type": ["integer", "array"] } }"#,
    r##"{ "$anchor": "here", "x-own": 1, "type": ["object", "null"] }"##,
];

const FRAMES: [&str; 9] = [
    r#"{ "allOf": [FIRST, SECOND] }"#,
    r#"{ "oneOf": [FIRST, SECOND] }"#,
    r#"{ "anyOf": [FIRST], "oneOf": [SECOND, { "const": 1 }] }"#,
    r#"{ "not": { "allOf": [FIRST, SECOND] } }"#,
    r##"{ "oneOf": [{ "$ref": "#/$defs/First" }, SECOND], "$defs": { "First": FIRST } }"##,
    r##"{ "not": { "$ref": "#/$defs/Outer" }, "$defs": { "Outer": { "allOf": [{ "$ref": "#/$defs/Inner" }, SECOND] }, "Inner": FIRST } }"##,
    r#"{ "type": "array", "items": { "anyOf": [FIRST, SECOND] } }"#,
    r#"{ "properties": { "a": FIRST, "b": SECOND } }"#,
    r##"{ "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/First", "oneOf": [SECOND], "definitions": { "First": FIRST } }"##,
];

/// The program's validator refuses everything that is not in draft-07.
#[test]
fn nothing_is_left_that_the_program_does_not_know() {
    let unknown = [
        "$schema",
        "$id",
        "$anchor",
        "prefixItems",
        "unevaluatedProperties",
        "dependentRequired",
        "minContains",
        "x-own",
    ];
    let everything: Vec<Value> = PARTS.iter().map(|part| serde_json::from_str(part).unwrap()).collect();
    for schema in [schema_for!(Report).to_value(), schema_for!(Finding).to_value(), json!({ "allOf": everything })] {
        let asked = Asked::new(&Schema::new(schema).unwrap(), Decisions::OneOf);
        let shown = asked.schema.to_string();
        for keyword in unknown {
            assert!(!shown.contains(&format!("\"{keyword}\":")), "{keyword} in {shown}");
        }
        assert!(!shown.contains("uint"), "{shown}");
    }
}

#[test]
fn sum_types_are_asked_for_as_one_or_field_by_field() {
    let schema = schema_of::<Finding>();
    let asked = Asked::new(&schema, Decisions::OneOf);
    let branches = ["/$defs/Answer/oneOf", "/$defs/Answer/anyOf"].iter().find_map(|at| asked.schema.pointer(at));
    assert_eq!(branches.and_then(Value::as_array).map(Vec::len), Some(4), "{}", asked.schema);
    let asked = Asked::new(&schema, Decisions::Fields);
    let fields: BTreeSet<_> = asked.schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["Line", "Nothing", "Span", "Text"].into());
    assert!(!asked.schema["properties"].to_string().contains("oneOf"));
    let two = asked.answer(json!({ "Nothing": {}, "Line": { "value": 3 } }));
    let Answered::Decisions(two) = two else { panic!("decisions") };
    assert_eq!(two.len(), 2, "which of them counts is not for here");
    // A plain enum is wrapped and keeps its `oneOf` or its names.
    let asked = Asked::new(&schema_of::<Level>(), Decisions::OneOf);
    assert_eq!(asked.schema["properties"][WRAPPED]["enum"], json!(["Low", "High"]));
    assert_eq!(asked.answer(json!({ "value": "Low" })), Answered::Output(json!("Low")));
    let asked = Asked::new(&schema_of::<Verdict>(), Decisions::OneOf);
    assert_eq!(asked.schema["properties"][WRAPPED]["oneOf"].as_array().unwrap().len(), 3);
}

#[test]
fn a_schema_without_a_type_that_speaks_of_fields_means_an_object() {
    let schema = Schema::new(json!({ "properties": { "name": { "type": "string" } }, "required": ["name"] })).unwrap();
    let asked = Asked::new(&schema, Decisions::OneOf);
    assert_eq!(asked.form, Form::Whole);
    assert_eq!(
        asked.schema,
        json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] })
    );
}
