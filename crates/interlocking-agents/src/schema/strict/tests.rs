//! Every answer that strict mode allows becomes a value of the original schema.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::StrictSchema;
use crate::schema::Schema;

/// What strict mode would refuse in a schema.
fn complaints(schema: &Value, root: &Value, found: &mut Vec<String>) {
    let Some(fields) = schema.as_object() else { return found.push(format!("no object: {schema}")) };
    const KNOWN: [&str; 17] = [
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "anyOf",
        "$ref",
        "$defs",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ];
    found.extend(
        fields.keys().filter(|keyword| !KNOWN.contains(&keyword.as_str()) && *keyword != "multipleOf").cloned(),
    );
    if let Some(reference) = fields.get("$ref") {
        let place = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        if fields.len() > 1 || place.and_then(|place| root.pointer(place)).is_none() {
            found.push(format!("a reference to nothing, or something beside it: {schema}"));
        }
    } else if let Some(branches) = fields.get("anyOf").and_then(Value::as_array) {
        branches.iter().for_each(|branch| complaints(branch, root, found));
    } else if !fields.contains_key("type") {
        found.push(format!("no type: {schema}"));
    }
    if fields.get("type") == Some(&json!("object")) {
        let names: Vec<&String> = fields["properties"].as_object().unwrap().keys().collect();
        let required: Vec<&str> = fields["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        if names.len() != required.len() || !names.iter().all(|name| required.contains(&name.as_str())) {
            found.push(format!("not all required: {schema}"));
        }
        if fields["additionalProperties"] != json!(false) {
            found.push(format!("not closed: {schema}"));
        }
    }
    for part in ["properties", "$defs"].iter().filter_map(|keyword| fields.get(*keyword)?.as_object()) {
        part.values().for_each(|part| complaints(part, root, found));
    }
    fields.get("items").into_iter().for_each(|items| complaints(items, root, found));
}

fn strict(original: &Value) -> StrictSchema {
    let strict = StrictSchema::of(original);
    let mut found = Vec::new();
    complaints(strict.as_value(), strict.as_value(), &mut found);
    if strict.as_value()["type"] != "object" || strict.as_value().get("anyOf").is_some() {
        found.push("the root is no object".to_owned());
    }
    assert!(found.is_empty(), "{found:#?}\nof\n{original:#}\nbecame\n{:#}", strict.as_value());
    strict
}

/// A value that a strict schema allows; `choices` decides which one.
fn some_value(schema: &Value, root: &Value, choices: &mut impl FnMut(usize) -> usize, depth: usize) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return some_value(root.pointer(&reference[1..]).unwrap(), root, choices, depth + 1);
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        // Ends the recursion: takes a branch that is null, or else the first branch.
        let null = branches.iter().find(|branch| branch["type"] == "null").filter(|_| depth > 6);
        let chosen = null.unwrap_or_else(|| &branches[if depth > 6 { 0 } else { choices(branches.len()) }]);
        return some_value(chosen, root, choices, depth + 1);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[choices(values.len())].clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[choices(kinds.len())].as_str().unwrap(),
        kind => kind.as_str().unwrap(),
    };
    match kind {
        "null" => Value::Null,
        "boolean" => json!(choices(2) == 1),
        "integer" => json!(schema["minimum"].as_i64().unwrap_or(0) + choices(100) as i64),
        "number" => json!(choices(100) as f64 / 4.0),
        // All these texts are valid JSON, because JSON in a string may be wanted here.
        "string" => json!(["\"a text\"", "17", "[null]", "{\"a\":1}"][choices(4)]),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
            let count = least + if depth > 6 { 0 } else { choices(3) };
            (0..count).map(|_| some_value(&schema["items"], root, choices, depth + 1)).collect()
        }
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            let fields = properties.iter();
            Value::Object(
                fields.map(|(key, field)| (key.clone(), some_value(field, root, choices, depth + 1))).collect(),
            )
        }
        other => panic!("{other}"),
    }
}

fn chooser(seeds: &[u16]) -> impl FnMut(usize) -> usize + '_ {
    let mut at = 0;
    move |count| {
        at += 1;
        usize::from(seeds[(at * 7 + at / seeds.len()) % seeds.len()]) % count.max(1)
    }
}

/// Both are arrays in the strict dialect, because an array represents the object there.
#[test]
fn an_object_without_fields_is_told_from_an_array_that_has_items() {
    let array = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
    let object = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    let strict = strict(&json!({ "anyOf": [array, object] }));
    assert_eq!(strict.undo(json!({ "answer": [] })), json!({}));
    assert_eq!(strict.undo(json!({ "answer": ["a"] })), json!(["a"]));
}

/// Every answer that strict mode allows is valid.
fn holds(original: &Value, seeds: &[u16]) -> Value {
    let schema = Schema::new(original.clone()).unwrap();
    let strict = strict(original);
    let answer = some_value(strict.as_value(), strict.as_value(), &mut chooser(seeds), 0);
    let allowed = Schema::new(strict.as_value().clone()).unwrap().violations(&answer);
    assert!(allowed.is_empty(), "the test's own answer is wrong: {allowed:?}\n{answer:#}\n{:#}", strict.as_value());
    let value = strict.undo(answer.clone());
    let wrong = schema.violations(&value);
    assert!(wrong.is_empty(), "{wrong:#?}\n{answer:#}\nbecame\n{value:#}\nby\n{original:#}");
    value
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Everything {
    name: String,
    /// Said to the model.
    count: Option<u32>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inner: Option<Box<Self>>,
    by_name: BTreeMap<String, Nested>,
    pair: (String, i32),
    anything: Value,
    external: External,
    internal: Internal,
    adjacent: Adjacent,
    untagged: Vec<Untagged>,
    #[serde(flatten)]
    more: More,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct More {
    ratio: f64,
    note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Nested {
    depth: u8,
    next: Option<Box<Self>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum External {
    /// It is well.
    Approved,
    Skipped,
    Rejected {
        reasons: Vec<String>,
        score: Option<u8>,
    },
    Wrapped(Nested),
    Pair(u8, bool),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Internal {
    Empty,
    Held(Nested),
    Own { by: BTreeMap<String, u8> },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    None,
    Text(String),
    Many(Vec<Nested>),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Nested(Nested),
    Texts(Vec<String>),
}

fn typed<T: JsonSchema + for<'de> Deserialize<'de>>(seeds: &[u16]) {
    let value = holds(&serde_json::to_value(schema_for!(T)).unwrap(), seeds);
    if let Err(error) = serde_json::from_value::<T>(value.clone()) {
        panic!("{error}: {value:#}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// CON-38, PRG-07: what a strict provider lets through is a value of the Rust type.
    #[test]
    fn answers_become_values_of_the_type(seeds in prop::collection::vec(any::<u16>(), 40)) {
        typed::<Everything>(&seeds);
        typed::<External>(&seeds);
        typed::<Internal>(&seeds);
        typed::<Adjacent>(&seeds);
        typed::<Untagged>(&seeds);
        typed::<Vec<Everything>>(&seeds);
        typed::<Option<Nested>>(&seeds);
        typed::<BTreeMap<String, External>>(&seeds);
        typed::<String>(&seeds);
    }

    /// For any schema, the strict schema is a valid strict schema, and every answer that it allows is valid.
    #[test]
    fn schemas_of_every_kind_are_converted(schema in schemas(), seeds in prop::collection::vec(any::<u16>(), 40)) {
        holds(&schema, &seeds);
    }
}

/// Schemas of which everything but the annotations can be expressed in the strict dialect.
fn schemas() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(json!({ "type": "string", "title": "T" })),
        Just(json!({ "type": ["integer", "null"], "format": "int64", "default": 0 })),
        Just(json!({ "type": "integer", "minimum": 3 })),
        Just(json!({ "const": "on" })),
        Just(json!({ "enum": ["a", 1, null] })),
        Just(json!({ "$ref": "#/$defs/Link", "description": "A link." })),
        Just(json!({ "type": "boolean" })),
    ];
    let inner = scalar.prop_recursive(4, 24, 4, |inner| {
        let fields = prop::collection::btree_map("[a-c]", inner.clone(), 0..4);
        prop_oneof![
            (fields.clone(), any::<bool>(), any::<u8>()).prop_map(|(fields, closed, required)| {
                let names = fields.keys().enumerate().filter(|(index, _)| required & (1 << index) != 0);
                let required: Vec<_> = names.map(|(_, name)| name.clone()).collect();
                let mut schema = json!({ "type": "object", "properties": fields, "required": required });
                if closed {
                    schema["additionalProperties"] = json!(false);
                }
                schema
            }),
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items, "minItems": 1 })),
            inner.clone().prop_map(|values| json!({ "type": "object", "additionalProperties": values })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|items| json!({
                "type": "array", "prefixItems": items, "minItems": items.len(), "maxItems": items.len()
            })),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|branches| json!({ "anyOf": branches })),
            (inner.clone(), inner).prop_map(|(one, other)| json!({ "oneOf": [
                { "type": "object", "properties": { "k": { "const": "one" }, "v": one }, "required": ["k", "v"] },
                { "type": "object", "properties": { "k": { "const": "other" }, "v": other }, "required": ["k"] },
            ] })),
        ]
    });
    inner.prop_map(|mut schema| {
        schema["$defs"] = json!({ "Link": {
            "type": "object", "required": ["to"], "properties": { "to": { "type": "string" }, "next": { "$ref": "#/$defs/Link" } }
        } });
        schema
    })
}

#[test]
fn a_field_that_may_be_missing_may_be_null_and_then_is_missing() {
    let strict = strict(&json!({
        "type": "object",
        "properties": { "a": { "type": "string", "minLength": 2 }, "b": { "type": ["string", "null"] }, "c": { "type": "string" } },
        "required": ["c"]
    }));
    assert_eq!(
        strict.as_value()["properties"],
        json!({
            "a": { "type": ["string", "null"], "description": "(minLength: 2)" },
            "b": { "type": ["string", "null"] },
            "c": { "type": "string" }
        })
    );
    let value = strict.undo(json!({ "a": null, "b": null, "c": null }));
    assert_eq!(value, json!({ "b": null, "c": null }), "nothing but what stands for a missing field goes");
}

/// Nothing is lost: every variant is possible.
#[test]
fn every_variant_can_be_answered() {
    let tags = |schema: Value, tag: fn(&Value) -> String| {
        let seeds =
            (0..200_u16).map(|seed| (0..40).map(|at| seed.wrapping_mul(31).wrapping_add(at * 17)).collect::<Vec<_>>());
        seeds.map(|seeds| tag(&holds(&schema, &seeds))).collect::<std::collections::BTreeSet<_>>()
    };
    let external = tags(serde_json::to_value(schema_for!(External)).unwrap(), |value| match value {
        Value::String(tag) => tag.clone(),
        other => other.as_object().unwrap().keys().next().unwrap().clone(),
    });
    assert!(external.iter().eq(["Approved", "Pair", "Rejected", "Skipped", "Wrapped"]), "{external:?}");
    let internal = tags(serde_json::to_value(schema_for!(Internal)).unwrap(), |value| value["kind"].to_string());
    assert_eq!(internal.len(), 3, "{internal:?}");
    let adjacent = tags(serde_json::to_value(schema_for!(Adjacent)).unwrap(), |value| value["t"].to_string());
    assert_eq!(adjacent.len(), 3, "{adjacent:?}");
}

#[test]
fn a_sum_type_is_wrapped_and_unwrapped() {
    let schema = serde_json::to_value(schema_for!(External)).unwrap();
    let strict = strict(&schema);
    let value = strict.read(r#"{"answer":{"Rejected":{"reasons":["long"],"score":null}}}"#);
    assert_eq!(value, Some(json!({ "Rejected": { "reasons": ["long"], "score": null } })));
    let bare = strict.read(r#"{"Rejected":{"reasons":["long"],"score":null}}"#);
    assert_eq!(bare, value, "a model that leaves out the wrapping is understood");
    assert_eq!(strict.read("It is well."), None);
}

#[test]
fn maps_tuples_and_any_values_come_back() {
    let strict = strict(&json!({
        "type": "object",
        "properties": {
            "map": { "additionalProperties": { "type": "integer" } },
            "pair": { "prefixItems": [{ "type": "string" }, {}] },
        },
        "required": ["map", "pair"]
    }));
    let answer = json!({
        "map": [{ "key": "a", "value": 1 }, { "key": "b", "value": 2 }],
        "pair": { "item_1": "x", "item_2": "{\"any\": [1]}" }
    });
    assert_eq!(strict.undo(answer), json!({ "map": { "a": 1, "b": 2 }, "pair": ["x", { "any": [1] }] }));
}

/// Whether only texts are requested.
fn is_text(schema: &Value, root: &Value) -> bool {
    if let Some(place) = schema["$ref"].as_str() {
        return root.pointer(&place[1..]).is_some_and(|schema| is_text(schema, root));
    }
    let branches = schema["anyOf"].as_array();
    branches.map_or(schema["type"] == "string", |branches| branches.iter().all(|branch| is_text(branch, root)))
}

#[test]
fn schemas_that_contain_themselves_without_end_are_asked_for_as_text() {
    for endless in [
        json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "$ref": "#", "type": "object" }),
        json!({ "$defs": { "A": { "allOf": [{ "$ref": "#/$defs/A" }] } }, "$ref": "#/$defs/A" }),
        json!({ "anyOf": [{ "anyOf": [true, { "$ref": "#/nowhere" }] }, { "$ref": "https://example.org/schema" }] }),
    ] {
        let strict = strict(&endless);
        let root = strict.as_value();
        assert!(is_text(&root["properties"]["answer"], root), "{endless} became {root:#}");
    }
}
