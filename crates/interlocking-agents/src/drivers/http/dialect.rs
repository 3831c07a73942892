//! JSON schemas as the providers accept them: in OpenAI's strict dialect, of which each provider accepts at least a
//! part.

use serde_json::{Map, Value, json};

use super::settings::HttpProvider;
use crate::schema::strict::StrictSchema;

/// Keywords of the strict dialect that Anthropic refuses. They are removed from what is sent, and checked here.
const NOT_ANTHROPIC: [&str; 6] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems"];

/// Keywords of strict schemas that contain schemas: in a list, and in a table.
const OF_SCHEMAS: [&str; 1] = ["anyOf"];
const OF_NAMED_SCHEMAS: [&str; 2] = ["properties", "$defs"];

/// The schema to send.
pub(super) fn sent(schema: &StrictSchema, provider: HttpProvider) -> Value {
    let mut sent = schema.as_value().clone();
    if provider == HttpProvider::Anthropic {
        each_schema(&mut sent, &mut |fields| {
            for keyword in NOT_ANTHROPIC {
                fields.remove(keyword);
            }
            if fields.get("minItems").is_some_and(|least| least.as_u64() > Some(1)) {
                fields.insert("minItems".to_owned(), json!(1));
            }
        });
    }
    sent
}

/// Applies `change` to every schema in this one, itself first. A field that has the name of a keyword is not a schema.
fn each_schema(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(fields) = schema else { return };
    change(fields);
    for (keyword, value) in fields {
        let keyword = keyword.as_str();
        match value {
            Value::Object(_) if keyword == "items" => each_schema(value, change),
            Value::Array(schemas) if OF_SCHEMAS.contains(&keyword) => {
                schemas.iter_mut().for_each(|schema| each_schema(schema, change));
            }
            Value::Object(named) if OF_NAMED_SCHEMAS.contains(&keyword) => {
                named.values_mut().for_each(|schema| each_schema(schema, change));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anthropic_gets_no_bounds_and_fields_are_no_keywords() {
        let schema = json!({
            "type": "object",
            "properties": {
                "minimum": { "type": "integer", "minimum": 3 },
                "items": { "type": "array", "minItems": 2, "maxItems": 3, "items": { "anyOf": [
                    { "type": "number", "multipleOf": 0.5 }, { "$ref": "#/$defs/Part" }
                ] } }
            },
            "required": ["minimum", "items"],
            "$defs": { "Part": { "type": "object", "properties": { "maximum": { "type": "integer", "maximum": 3 } }, "required": ["maximum"] } }
        });
        let strict = StrictSchema::of(&schema);
        assert_eq!(sent(&strict, HttpProvider::OpenAi), *strict.as_value());
        let object = |properties: Value| {
            let required: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        };
        let expected = object(json!({
            "minimum": { "type": "integer" },
            "items": { "type": "array", "minItems": 1, "items": { "anyOf": [{ "type": "number" }, { "$ref": "#/$defs/Part" }] } }
        }));
        let found = sent(&strict, HttpProvider::Anthropic);
        assert_eq!(found["properties"], expected["properties"]);
        assert_eq!(found["$defs"], json!({ "Part": object(json!({ "maximum": { "type": "integer" } })) }));
    }
}
