//! Schemas as the program accepts them: draft-07 under a strict validator, with an object at the root.
//!
//! A schema is only ever loosened, so that every value that the original allows is allowed. The
//! [conversation](crate::Conversation) checks the answer against the original.

mod draft;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use self::draft::convert;
use super::settings::Decisions;
use crate::conversation::decision::{Decision, DecisionTool};
use crate::schema::{Schema, for_each_reference};

/// The field that holds an answer which is not an object.
const WRAPPED: &str = "value";

/// A schema for the program, and the conversion of its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// The schema that is given to the program.
    pub(super) schema: Value,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// The answer itself.
    Whole,
    /// The answer in a field.
    Wrapped,
    /// One field for each decision tool.
    Fields,
}

/// The converted answer of the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answered {
    Output(Value),
    Decisions(Vec<Decision>),
}

impl Asked {
    /// Converts this schema.
    pub(super) fn new(schema: &Schema, decisions: Decisions) -> Self {
        if let (Decisions::Fields, Some(tools)) = (decisions, schema.decisions()) {
            return Self { schema: convert(&fields(&tools)), form: Form::Fields };
        }
        match as_object(schema.as_value()) {
            Some(object) => Self { schema: convert(&object), form: Form::Whole },
            None => Self { schema: convert(&wrapped(schema.as_value())), form: Form::Wrapped },
        }
    }

    /// Converts an answer to the original schema.
    pub(super) fn answer(&self, output: Value) -> Answered {
        match (self.form, output) {
            (Form::Wrapped, Value::Object(mut fields)) if fields.contains_key(WRAPPED) => {
                Answered::Output(fields.remove(WRAPPED).unwrap_or_default())
            }
            (Form::Fields, Value::Object(fields)) => {
                let decided = fields.into_iter().filter(|(_, input)| !input.is_null());
                Answered::Decisions(decided.map(|(tool, input)| Decision { tool, input }).collect())
            }
            (_, other) => Answered::Output(other),
        }
    }
}

/// The schema if its root can be a tool's input: an object without keywords that the providers refuse there.
fn as_object(schema: &Value) -> Option<Value> {
    let fields = schema.as_object()?;
    let refused = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "enum", "const"];
    if refused.iter().any(|keyword| fields.contains_key(*keyword)) {
        return None;
    }
    match fields.get("type") {
        Some(kind) => (kind == "object").then(|| schema.clone()),
        // The schema describes fields, so it means an object, although it allows all other values.
        None => fields.contains_key("properties").then(|| {
            let mut fields = fields.clone();
            fields.insert("type".to_owned(), json!("object"));
            Value::Object(fields)
        }),
    }
}

/// An object with the answer in a field. References to the root are changed to lead to that field.
fn wrapped(schema: &Value) -> Value {
    let mut answer = schema.clone();
    let mut definitions = Map::new();
    for place in ["$defs", "definitions"] {
        if let Some(Value::Object(found)) = answer.get(place) {
            definitions.insert(place.to_owned(), Value::Object(found.clone()));
        }
    }
    let mut moved = format!("#/properties/{WRAPPED}");
    let mut recursive = false;
    for_each_reference(&mut answer, &mut |reference| recursive |= leads_to_root(reference).is_some());
    if recursive {
        moved = "#/$defs/Answer".to_owned();
        while definitions.get("$defs").is_some_and(|defs| defs.get(&moved["#/$defs/".len()..]).is_some()) {
            moved.push('_');
        }
    }
    let mut redirect = |value: &mut Value| {
        for_each_reference(value, &mut |reference| {
            if let Some(rest) = leads_to_root(reference) {
                *reference = format!("{moved}{rest}");
            }
        });
    };
    redirect(&mut answer);
    definitions.values_mut().for_each(&mut redirect);
    if let Value::Object(fields) = &mut answer {
        fields.retain(|keyword, _| !["$schema", "$defs", "definitions"].contains(&keyword.as_str()));
    }
    if recursive {
        let name = moved["#/$defs/".len()..].to_owned();
        let defs = definitions.entry("$defs").or_insert_with(|| json!({}));
        defs[name] = answer;
        answer = json!({ "$ref": moved });
    }
    let mut whole = object_of(json!({ WRAPPED: answer }));
    whole["required"] = json!([WRAPPED]);
    if let Value::Object(fields) = &mut whole {
        fields.extend(definitions);
    }
    whole
}

/// The rest of a reference to the root or into it; none if it leads to a definition or elsewhere.
fn leads_to_root(reference: &str) -> Option<&str> {
    let rest = reference.strip_prefix('#')?;
    let to_definition = rest.starts_with("/$defs/") || rest.starts_with("/definitions/");
    (!to_definition && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
}

/// An object with a field for each tool, of which exactly one must be present.
fn fields(tools: &[DecisionTool]) -> Value {
    let (mut properties, mut definitions) = (Map::new(), Map::new());
    for tool in tools {
        let mut input = tool.input_schema.clone();
        if let Value::Object(fields) = &mut input {
            fields.remove("$schema");
            for place in ["$defs", "definitions"] {
                // All tools come from one schema, so definitions with the same name are equal.
                if let Some(Value::Object(found)) = fields.remove(place) {
                    let kept = definitions.entry(place.to_owned()).or_insert_with(|| json!({}));
                    found.into_iter().for_each(|(name, definition)| kept[name] = definition);
                }
            }
            if let Some(description) = &tool.description {
                fields.insert("description".to_owned(), json!(description));
            }
        }
        properties.insert(tool.name.clone(), input);
    }
    let mut whole = object_of(Value::Object(properties));
    whole["minProperties"] = json!(1);
    whole["maxProperties"] = json!(1);
    whole["description"] = json!("Fill in exactly one of the fields: the one for what you decide.");
    if let Value::Object(fields) = &mut whole {
        fields.extend(definitions);
    }
    whole
}

fn object_of(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
