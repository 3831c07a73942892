//! Merges several schemas that apply at once into one.

use serde_json::{Map, Value, json};

/// Keywords that do not constrain a value.
const ANNOTATIONS: [&str; 11] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
];

pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
}

/// Whether there are only annotations beside this keyword.
pub(super) fn stands_alone(schema: &Map<String, Value>, keyword: &str) -> bool {
    schema.keys().all(|other| other == keyword || is_annotation(other))
}

/// One schema for all parts: with the fields of all parts, and for other keywords the value of the first part that has
/// it. A part that is `true` is skipped. None if two parts have different alternatives or references, or if another part
/// is not an object.
pub(super) fn merged(parts: Vec<Value>) -> Option<Map<String, Value>> {
    let mut whole = Map::new();
    for part in parts {
        let Value::Object(part) = part else {
            if part == Value::Bool(true) {
                continue;
            }
            return None;
        };
        for (keyword, value) in part {
            match (whole.get_mut(&keyword), value) {
                (None, value) => {
                    whole.insert(keyword, value);
                }
                (Some(Value::Object(fields)), Value::Object(more)) if keyword == "properties" => add(fields, more),
                (Some(Value::Array(names)), Value::Array(more)) if keyword == "required" => {
                    for name in more {
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                }
                (Some(first), second) if ["oneOf", "anyOf", "$ref", "allOf"].contains(&&*keyword) => {
                    if *first != second {
                        return None;
                    }
                }
                // The first part that restricts additional properties applies. The fields of the other parts are kept.
                (Some(first), second) if keyword == "additionalProperties" => {
                    if *first == json!(true) || *first == json!({}) {
                        *first = second;
                    }
                }
                (Some(_), _) => {}
            }
        }
    }
    Some(whole)
}

/// A field in both parts has to satisfy both.
fn add(fields: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, schema) in more {
        let schema = match fields.remove(&name) {
            Some(first) if first != schema => json!({ "allOf": [first, schema] }),
            _ => schema,
        };
        fields.insert(name, schema);
    }
}
