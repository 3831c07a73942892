//! JSON schemas as the providers take them.
//!
//! Each provider that holds a model to a schema understands a part of JSON Schema only, and refuses the request where there is
//! something else in it. What is taken away here only widens the schema: the answer is validated against the original.

use serde_json::{Map, Value, json};

use super::settings::HttpProvider;

/// The one field of the object that a schema is put in that is no object itself.
const WRAPPED: &str = "value";

/// Formats that OpenAI and Anthropic know; others, such as schemars' `uint8`, are refused.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// What Anthropic refuses beside that.
const NOT_ANTHROPIC: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
];

/// Keywords whose value is a schema, a list of schemas or a table of schemas.
const OF_A_SCHEMA: [&str; 4] = ["items", "additionalProperties", "contains", "not"];
const OF_SCHEMAS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const OF_NAMED_SCHEMAS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// A schema that a provider takes for the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Adapted {
    pub(super) schema: Value,
    wrapped: bool,
}

impl Adapted {
    /// The schema of the whole answer. Its root is an object without alternatives, as all providers want it.
    pub(super) fn whole(schema: &Value, provider: HttpProvider) -> Self {
        let plain = schema["type"] == "object"
            && ["oneOf", "anyOf", "allOf", "$ref", "enum", "not"].iter().all(|keyword| schema.get(keyword).is_none());
        let mut adapted = if plain { schema.clone() } else { wrapped(schema) };
        adapt(&mut adapted, provider);
        Self { schema: adapted, wrapped: !plain }
    }

    /// The schema of a tool's input, whose root is an object already.
    pub(super) fn input(schema: &Value, provider: HttpProvider) -> Value {
        let mut adapted = schema.clone();
        adapt(&mut adapted, provider);
        adapted
    }

    /// The answer as the original schema means it.
    pub(super) fn output(&self, answer: Value) -> Value {
        match answer {
            Value::Object(mut fields) if self.wrapped && fields.len() == 1 && fields.contains_key(WRAPPED) => {
                fields.remove(WRAPPED).unwrap_or_default()
            }
            other => other,
        }
    }
}

/// An object with the schema in its one field. Definitions stay at the root, where references look for them.
fn wrapped(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let mut outer = Map::new();
    if let Value::Object(fields) = &mut inner {
        fields.remove("$schema");
        for definitions in ["$defs", "definitions"] {
            outer.extend(fields.remove(definitions).map(|found| (definitions.to_owned(), found)));
        }
    }
    let mut moved = json!({
        "type": "object",
        "properties": { WRAPPED: inner },
        "required": [WRAPPED],
        "additionalProperties": false,
    });
    if let Value::Object(fields) = &mut moved {
        fields.extend(outer);
    }
    each_schema(&mut moved, &mut |fields| {
        if let Some(Value::String(reference)) = fields.get_mut("$ref")
            && let Some(place) = reference.strip_prefix('#')
            && !["/$defs/", "/definitions/"].iter().any(|definitions| place.starts_with(definitions))
        {
            *reference = format!("#/properties/{WRAPPED}{place}");
        }
    });
    moved
}

fn adapt(schema: &mut Value, provider: HttpProvider) {
    if provider == HttpProvider::Gemini {
        // It takes what it does not know.
        if let Value::Object(fields) = schema {
            fields.remove("$schema");
        }
        return;
    }
    each_schema(schema, &mut |fields| {
        fields.remove("$schema");
        fields.remove("default");
        if fields.get("format").is_some_and(|format| !FORMATS.iter().any(|known| format == known)) {
            fields.remove("format");
        }
        // No provider knows `oneOf`. Whether an answer fits two of them is looked at afterwards.
        if let (false, Some(alternatives)) = (fields.contains_key("anyOf"), fields.remove("oneOf")) {
            fields.insert("anyOf".to_owned(), alternatives);
        }
        if let Some(Value::String(reference)) = fields.get_mut("$ref") {
            *reference = reference.replace("/oneOf/", "/anyOf/");
        }
        if provider == HttpProvider::Anthropic {
            for keyword in NOT_ANTHROPIC {
                fields.remove(keyword);
            }
            if fields.get("minItems").is_some_and(|least| least.as_u64() > Some(1)) {
                fields.insert("minItems".to_owned(), json!(1));
            }
        }
    });
}

/// Every schema in this one, itself first. What stands in `const`, `enum` or `examples` is none.
fn each_schema(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(fields) = schema else { return };
    change(fields);
    for (keyword, value) in fields {
        let keyword = keyword.as_str();
        match value {
            Value::Object(_) if OF_A_SCHEMA.contains(&keyword) => each_schema(value, change),
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
    use crate::schema::Schema;

    #[test]
    fn what_is_no_object_is_put_into_one_and_taken_out_again() {
        let sum = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "oneOf": [
                { "const": "Leaf" },
                { "type": "object", "properties": { "Both": { "type": "array", "items": { "$ref": "#" } } } },
                { "$ref": "#/$defs/Other" },
                { "$ref": "#/oneOf/0" }
            ],
            "$defs": { "Other": { "type": "object", "properties": { "Other": { "type": "integer", "format": "uint8" } } } }
        });
        let adapted = Adapted::whole(&sum, HttpProvider::OpenAi);
        assert_eq!(
            adapted.schema,
            json!({
                "type": "object",
                "properties": { "value": { "anyOf": [
                    { "const": "Leaf" },
                    { "type": "object", "properties": { "Both": { "type": "array", "items": { "$ref": "#/properties/value" } } } },
                    { "$ref": "#/$defs/Other" },
                    { "$ref": "#/properties/value/anyOf/0" }
                ] } },
                "required": ["value"],
                "additionalProperties": false,
                "$defs": { "Other": { "type": "object", "properties": { "Other": { "type": "integer" } } } }
            })
        );
        assert_eq!(adapted.output(json!({ "value": "Leaf" })), json!("Leaf"));
        assert_eq!(adapted.output(json!("Leaf")), json!("Leaf"), "a model that forgot the object was understood");
        let object = Adapted::whole(&json!({ "type": "object", "properties": { "value": {} } }), HttpProvider::OpenAi);
        assert_eq!(object.output(json!({ "value": 1 })), json!({ "value": 1 }), "a field of the type's own");
    }

    #[test]
    fn names_of_fields_are_no_keywords() {
        let schema = json!({
            "type": "object",
            "properties": { "oneOf": { "type": "string", "format": "email" }, "minimum": { "type": "integer", "minimum": 3 } },
            "examples": [{ "minimum": 3 }]
        });
        let adapted = Adapted::whole(&schema, HttpProvider::Anthropic);
        assert_eq!(
            adapted.schema,
            json!({
                "type": "object",
                "properties": { "oneOf": { "type": "string", "format": "email" }, "minimum": { "type": "integer" } },
                "examples": [{ "minimum": 3 }]
            })
        );
    }

    /// Whatever fitted still fits.
    #[test]
    fn what_is_taken_away_only_widens() {
        let schema = json!({
            "type": "object",
            "properties": {
                "score": { "type": "integer", "minimum": 0, "maximum": 10, "format": "uint8" },
                "words": { "type": "array", "minItems": 2, "uniqueItems": true, "items": { "type": "string", "minLength": 1 } }
            },
            "required": ["score"]
        });
        for provider in HttpProvider::ALL {
            let adapted = Schema::new(Adapted::whole(&schema, provider).schema).unwrap();
            assert_eq!(adapted.violations(&json!({ "score": 3, "words": ["a", "b"] })), [], "{provider}");
        }
    }
}
