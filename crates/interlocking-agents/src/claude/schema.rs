//! Schemas as the program takes them: draft-07 under a strict validator, an object at the root.
//!
//! A schema is only ever loosened, so that whatever fits the original fits what is sent. The answer is checked against the
//! original, by the [conversation](crate::Conversation).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::settings::Decisions;
use crate::decision::{Decision, DecisionTool};
use crate::schema::Schema;

/// The field that holds an answer which is no object.
const WRAPPED: &str = "value";

/// What draft-07 knows, and later drafts mean the same by. What else there is goes.
const KNOWN: [&str; 35] = [
    "$comment",
    "$ref",
    "additionalProperties",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "patternProperties",
    "propertyNames",
    "required",
    "title",
    "type",
    "uniqueItems",
    "allOf",
    "anyOf",
    "oneOf",
    "$defs",
    "definitions",
];

/// Formats that the program's validator knows and that mean a form of text.
const FORMATS: [&str; 8] = ["date", "date-time", "email", "ipv4", "ipv6", "time", "uri", "uuid"];

/// A schema for the program, and the way back from its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// What is given to the program.
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

/// What the program's answer stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answered {
    Output(Value),
    Decisions(Vec<Decision>),
}

impl Asked {
    /// For this schema.
    pub(super) fn new(schema: &Schema, decisions: Decisions) -> Self {
        if let (Decisions::Fields, Some(tools)) = (decisions, schema.decisions()) {
            return Self { schema: convert(&fields(&tools)), form: Form::Fields };
        }
        match as_object(schema.as_value()) {
            Some(object) => Self { schema: convert(&object), form: Form::Whole },
            None => Self { schema: convert(&wrapped(schema.as_value())), form: Form::Wrapped },
        }
    }

    /// The answer to the original schema.
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

/// The schema if its root can be a tool's input: an object, and nothing that the providers refuse there.
fn as_object(schema: &Value) -> Option<Value> {
    let fields = schema.as_object()?;
    let refused = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "enum", "const"];
    if refused.iter().any(|keyword| fields.contains_key(*keyword)) {
        return None;
    }
    match fields.get("type") {
        Some(kind) => (kind == "object").then(|| schema.clone()),
        // It speaks of fields, so it means an object, though it lets everything else pass.
        None => fields.contains_key("properties").then(|| {
            let mut fields = fields.clone();
            fields.insert("type".to_owned(), json!("object"));
            Value::Object(fields)
        }),
    }
}

/// An object with the answer in a field. References to the root lead to where it went.
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

/// An object with a field for each tool, exactly one of which is there.
fn fields(tools: &[DecisionTool]) -> Value {
    let (mut properties, mut definitions) = (Map::new(), Map::new());
    for tool in tools {
        let mut input = tool.input_schema.clone();
        if let Value::Object(fields) = &mut input {
            fields.remove("$schema");
            for place in ["$defs", "definitions"] {
                // All tools come from one schema: what has the same name is the same.
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

/// The schema in draft-07 and at the same time in the draft of 2020, without what the program's validator does not know.
fn convert(schema: &Value) -> Value {
    let mut document = schema.clone();
    let mut loosened = BTreeSet::new();
    // What a definition loses, whoever refers to it loses; so until there is nothing new.
    loop {
        let known = loosened.clone();
        let mut conversion = Conversion { loosened: &known, lost: false };
        let converted = conversion.schema(&document);
        for place in ["$defs", "definitions"] {
            for (name, definition) in document.get(place).and_then(Value::as_object).into_iter().flatten() {
                let mut conversion = Conversion { loosened: &known, lost: false };
                conversion.schema(definition);
                if conversion.lost {
                    loosened.insert(format!("#/{place}/{}", name.replace('~', "~0").replace('/', "~1")));
                }
            }
        }
        if loosened == known {
            document = converted;
            return document;
        }
    }
}

/// One pass over a schema.
struct Conversion<'a> {
    /// References to definitions that let more pass than they did.
    loosened: &'a BTreeSet<String>,
    /// Whether what was converted lets more pass than it did.
    lost: bool,
}

impl Conversion<'_> {
    fn schema(&mut self, schema: &Value) -> Value {
        let Value::Object(fields) = schema else { return schema.clone() };
        let mut converted = Map::new();
        for (keyword, value) in fields {
            match keyword.as_str() {
                "const" | "enum" | "default" | "examples" => {
                    converted.insert(keyword.clone(), value.clone());
                }
                "$defs" | "definitions" => {
                    // Whether a definition lost something matters where it is referred to.
                    let lost = self.lost;
                    converted.insert(keyword.clone(), self.each(value));
                    self.lost = lost;
                }
                "properties" | "patternProperties" => {
                    converted.insert(keyword.clone(), self.each(value));
                }
                "$ref" => self.reference(value, &mut converted),
                "items" | "additionalProperties" | "propertyNames" if !value.is_array() => {
                    converted.insert(keyword.clone(), self.schema(value));
                }
                "allOf" | "anyOf" => {
                    let branches = value.as_array().into_iter().flatten().map(|branch| self.schema(branch)).collect();
                    converted.insert(keyword.clone(), Value::Array(branches));
                }
                "format" => self.format(value, &mut converted),
                "oneOf" | "prefixItems" | "items" | "not" | "if" | "then" | "else" | "contains" => {}
                keyword if KNOWN.contains(&keyword) => {
                    converted.insert(keyword.to_owned(), value.clone());
                }
                keyword => self.lost |= !is_annotation(keyword),
            }
        }
        self.one_of(fields, &mut converted);
        self.tuple(fields, &mut converted);
        self.negations(fields, &mut converted);
        Value::Object(converted)
    }

    fn each(&mut self, schemas: &Value) -> Value {
        let Value::Object(schemas) = schemas else { return schemas.clone() };
        schemas.iter().map(|(name, schema)| (name.clone(), self.schema(schema))).collect::<Map<_, _>>().into()
    }

    /// A reference into this document stays. What else it may lead to is not there any more.
    fn reference(&mut self, reference: &Value, converted: &mut Map<String, Value>) {
        match reference.as_str() {
            Some(local) if local == "#" || local.starts_with("#/") => {
                self.lost |= self.loosened.iter().any(|loosened| local.starts_with(loosened.as_str()));
                // Where it does not lead to a definition as a whole, what was lost on the way is not known.
                self.lost |= local.split('/').count() != 3;
                converted.insert("$ref".to_owned(), reference.clone());
            }
            _ => self.lost = true,
        }
    }

    fn format(&mut self, format: &Value, converted: &mut Map<String, Value>) {
        // Formats say something to the model, and nothing to a validator of the draft of 2020.
        if FORMATS.iter().any(|known| format == *known) {
            converted
                .entry("description")
                .or_insert_with(|| json!(format!("Format: {}.", format.as_str().unwrap_or(""))));
        }
    }

    /// Exactly one branch fits. Where a branch lets more pass now, a second one might.
    fn one_of(&mut self, fields: &Map<String, Value>, converted: &mut Map<String, Value>) {
        let Some(branches) = fields.get("oneOf").and_then(Value::as_array) else { return };
        let mut inside = Conversion { loosened: self.loosened, lost: false };
        let branches: Vec<_> = branches.iter().map(|branch| inside.schema(branch)).collect();
        self.lost |= inside.lost;
        match (inside.lost, converted.contains_key("anyOf")) {
            (false, _) => drop(converted.insert("oneOf".to_owned(), branches.into())),
            (true, false) => drop(converted.insert("anyOf".to_owned(), branches.into())),
            // Two lists of alternatives, both of which must hold.
            (true, true) => {
                let all = converted.entry("allOf").or_insert_with(|| json!([]));
                if let Value::Array(all) = all {
                    all.push(json!({ "anyOf": branches }));
                }
            }
        }
    }

    /// Both drafts have tuples, but not the same: each item may be any of what the items may be.
    fn tuple(&mut self, fields: &Map<String, Value>, converted: &mut Map<String, Value>) {
        let (items, rest) = match (fields.get("prefixItems"), fields.get("items")) {
            (Some(Value::Array(items)), rest) => (items, rest),
            (None, Some(Value::Array(items))) => (items, fields.get("additionalItems")),
            _ => return,
        };
        self.lost = true;
        let mut kinds: Vec<Value> = Vec::new();
        for item in items {
            let kind = self.schema(item);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        converted.remove("items");
        match rest {
            Some(Value::Bool(false)) => {}
            None | Some(Value::Bool(true)) => {
                let bounded =
                    fields.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= items.len() as u64);
                if !bounded {
                    return;
                }
            }
            Some(rest) => kinds.push(self.schema(rest)),
        }
        let items = match kinds.as_slice() {
            [] => return,
            [one] => one.clone(),
            _ => json!({ "anyOf": kinds }),
        };
        converted.insert("items".to_owned(), items);
    }

    /// What lets less pass where a part of it lets more pass goes, if a part of it does.
    fn negations(&mut self, fields: &Map<String, Value>, converted: &mut Map<String, Value>) {
        let mut inside = Conversion { loosened: self.loosened, lost: false };
        let mut conditional = Map::new();
        for keyword in ["if", "then", "else"] {
            if let Some(value) = fields.get(keyword) {
                conditional.insert(keyword.to_owned(), inside.schema(value));
            }
        }
        if inside.lost {
            self.lost = true;
        } else {
            converted.extend(conditional);
        }
        if let Some(value) = fields.get("not") {
            let mut inside = Conversion { loosened: self.loosened, lost: false };
            let value = inside.schema(value);
            if inside.lost {
                self.lost = true;
            } else {
                converted.insert("not".to_owned(), value);
            }
        }
        if let Some(value) = fields.get("contains") {
            // Draft-07 has no numbers for it, and always wants one.
            if ["minContains", "maxContains"].iter().any(|keyword| fields.contains_key(*keyword)) {
                self.lost = true;
            } else {
                let value = self.schema(value);
                converted.insert("contains".to_owned(), value);
            }
        }
    }
}

/// Whether it only tells something. Whatever is not known does, too: validators pass it over.
fn is_annotation(keyword: &str) -> bool {
    let asserting = [
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$recursiveRef",
        "additionalItems",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "maxContains",
        "minContains",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    !asserting.contains(&keyword)
}

fn for_each_reference(schema: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_reference(item, visit)),
        Value::Object(fields) => {
            for (keyword, value) in fields {
                match value {
                    Value::String(reference) if keyword == "$ref" => visit(reference),
                    other => for_each_reference(other, visit),
                }
            }
        }
        _ => {}
    }
}
