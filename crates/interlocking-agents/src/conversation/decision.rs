//! Decision tools: an enum offered as one tool per variant, and the conversion of a tool call back into a value of the
//! enum.
//!
//! Some models decide better by calling a tool than by filling in a `oneOf`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::schema::{Schema, SchemaViolation, for_each_reference};

/// The longest tool name that the providers accept.
const LONGEST_NAME: usize = 64;

/// The only field of a tool whose variant holds something other than an object, because a tool's input is always an
/// object.
const WRAPPED: &str = "value";

/// The keywords of definitions, and the longest chain of references to follow.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
const DEEPEST: usize = 16;

/// A tool for one variant of an enum; see [`Schema::decisions`].
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionTool {
    /// The variant's name. Characters that are not allowed in a tool's name (`[a-zA-Z0-9_-]{1,64}`) are replaced by
    /// underscores.
    pub name: String,
    /// The description from the schema: the variant's doc comment, or else that of the type it holds.
    pub description: Option<String>,
    /// A self-contained JSON schema, with the definitions it refers to. As the providers require, its root is an object
    /// schema without `oneOf`, `anyOf`, `allOf` or `$ref`. If the variant holds anything else, the schema wraps it in a
    /// field `value`.
    pub input_schema: Value,
    variant: Variant,
    wrapped: bool,
}

/// A call of a [`DecisionTool`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The [name](DecisionTool::name) of the tool.
    pub tool: String,
    /// The input of the call: an object, empty when the tool takes nothing.
    pub input: Value,
}

#[derive(Debug, Clone, PartialEq)]
struct Variant {
    tag: String,
    representation: Representation,
}

/// The representation of a variant, as in serde.
#[derive(Debug, Clone, PartialEq)]
enum Representation {
    /// `"Tag"`
    Unit,
    /// `{"Tag": …}`
    External,
    /// `{"key": "Tag", …}`; adjacently tagged enums are treated in the same way.
    Internal { key: String },
}

/// What a schema says about a variant.
struct Described<'s> {
    variant: Variant,
    description: Option<&'s Value>,
    /// The schema of what the variant holds, without its tag.
    payload: Value,
}

impl Schema {
    /// For the schema of an enum, one tool per variant, in the order of the schema, with distinct names. `None` for
    /// other schemas; an agent then asks for the output as a whole.
    ///
    /// Supports what schemars writes for enums that are externally, internally or adjacently tagged. Untagged enums are
    /// not supported, because their variants have no names.
    ///
    /// ```
    /// # use interlocking_agents::Schema;
    /// # use serde_json::json;
    /// let schema = Schema::from_text(r##"{ "oneOf": [
    ///     { "const": "Approved" },
    ///     { "type": "object", "required": ["Rejected"], "properties": { "Rejected": {
    ///         "type": "object", "properties": { "reasons": { "items": { "type": "string" } } }, "required": ["reasons"]
    ///     } } }
    /// ] }"##)?;
    /// let tools = schema.decisions().unwrap_or_default();
    /// assert_eq!(tools[0].name, "Approved");
    /// assert_eq!(tools[0].value(json!({})), json!("Approved"));
    /// assert_eq!(tools[1].value(json!({ "reasons": ["long"] })), json!({ "Rejected": { "reasons": ["long"] } }));
    /// # Ok::<(), interlocking_agents::SchemaError>(())
    /// ```
    pub fn decisions(&self) -> Option<Vec<DecisionTool>> {
        let document = Document::new(self.as_value());
        let mut names = BTreeSet::new();
        let variants = document.variants()?;
        Some(variants.into_iter().map(|described| document.tool(described, &mut names)).collect())
    }
}

impl DecisionTool {
    /// Converts the input of a call into a value of the enum. The value is as valid as the input.
    pub fn value(&self, input: Value) -> Value {
        let payload = match input {
            Value::Object(mut fields) if self.wrapped => fields.remove(WRAPPED).unwrap_or_default(),
            other => other,
        };
        let Variant { tag, representation } = &self.variant;
        match (representation, payload) {
            (Representation::Unit, _) => tag.as_str().into(),
            (Representation::External, payload) => json!({ tag: payload }),
            (Representation::Internal { key }, Value::Object(mut fields)) => {
                fields.insert(key.clone(), tag.as_str().into());
                Value::Object(fields)
            }
            (Representation::Internal { .. }, other) => other,
        }
    }

    /// What is wrong with the input; paths are relative to the input.
    pub(crate) fn violations(&self, input: &Value) -> Vec<SchemaViolation> {
        // If this part of the schema does not compile alone, only the better messages are lost: the value is checked
        // against the whole schema.
        let found = Schema::new(self.input_schema.clone()).map(|schema| schema.violations(input)).unwrap_or_default();
        found.into_iter().map(|violation| self.named(violation)).collect()
    }

    /// Converts a violation in the value of a call into a violation in the tool's input, as the model knows only the
    /// tool.
    pub(crate) fn violation_of_input(&self, violation: SchemaViolation) -> SchemaViolation {
        let mut path = violation.path;
        if self.variant.representation == Representation::External {
            let outside = format!("/{}", escaped(&self.variant.tag));
            path = match path.strip_prefix(&outside) {
                Some(inside) if inside.is_empty() || inside.starts_with('/') => inside.to_owned(),
                _ => path,
            };
        }
        if self.wrapped {
            path = format!("/{WRAPPED}{path}");
        }
        self.named(SchemaViolation { path, ..violation })
    }

    fn named(&self, SchemaViolation { path, message }: SchemaViolation) -> SchemaViolation {
        SchemaViolation { path, message: format!("{message} (in the input of tool `{}`)", self.name) }
    }
}

/// A schema in which every local reference leads to a definition, so that its parts can be used alone.
struct Document(Value);

impl Document {
    fn new(schema: &Value) -> Self {
        let mut document = schema.clone();
        let mut whole = "Decision".to_owned();
        while DEFINITIONS.iter().any(|definitions| document[definitions].get(&whole).is_some()) {
            whole.push('_');
        }
        let mut recursive = false;
        for_each_reference(&mut document, &mut |reference| {
            let to_a_definition = definition_named(reference).is_some();
            if let (false, Some(place)) = (to_a_definition, reference.strip_prefix('#'))
                && (place.is_empty() || place.starts_with('/'))
            {
                *reference = format!("#/$defs/{whole}{place}");
                recursive = true;
            }
        });
        if recursive && let Value::Object(fields) = &mut document {
            let mut copy = fields.clone();
            copy.retain(|keyword, _| keyword != "$schema" && !DEFINITIONS.contains(&keyword.as_str()));
            if let Value::Object(definitions) = fields.entry("$defs").or_insert_with(|| json!({})) {
                definitions.insert(whole, Value::Object(copy));
            }
        }
        Self(document)
    }

    /// The variants; none if this is not the schema of an enum.
    fn variants(&self) -> Option<Vec<Described<'_>>> {
        let sum = self.resolved(&self.0);
        if let Some(names) = names(sum) {
            return (!names.is_empty()).then(|| names.into_iter().map(|name| unit(name, None)).collect());
        }
        if ["properties", "$ref", "anyOf", "allOf"].iter().any(|keyword| sum.get(keyword).is_some()) {
            return None;
        }
        let branches = sum.get("oneOf")?.as_array()?;
        let variants: Vec<_> = match internal_tag(branches) {
            Some(key) => branches.iter().map(|branch| internal(branch, key)).collect::<Option<_>>()?,
            None => branches.iter().map(external).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect(),
        };
        let tags: BTreeSet<_> = variants.iter().map(|described| &described.variant.tag).collect();
        (tags.len() == variants.len()).then_some(variants)
    }

    fn tool(&self, described: Described<'_>, taken: &mut BTreeSet<String>) -> DecisionTool {
        let Described { variant, description, payload } = described;
        let held = self.resolved(&payload);
        let description = description.or(held.get("description")).and_then(Value::as_str).map(str::to_owned);
        let wrapped = !takes_fields(held);
        let input_schema = if wrapped { fields_of(json!({ WRAPPED: payload })) } else { held.clone() };
        let input_schema = self.with_definitions(input_schema);
        DecisionTool { name: safe_name(&variant.tag, taken), description, input_schema, variant, wrapped }
    }

    /// Follows references, except those beside which there are keywords other than annotations, which would be lost.
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let annotations = ["$ref", "$schema", "$defs", "definitions", "title", "description"];
        let mut resolved = schema;
        for _ in 0..DEEPEST {
            let alone = resolved
                .as_object()
                .is_some_and(|fields| fields.keys().all(|keyword| annotations.contains(&keyword.as_str())));
            let place = resolved.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
            match place.and_then(|place| self.0.pointer(place)) {
                Some(referred) if alone => resolved = referred,
                _ => break,
            }
        }
        resolved
    }

    /// The schema with the document's dialect and the definitions that it needs.
    fn with_definitions(&self, mut schema: Value) -> Value {
        let mut needed = Map::new();
        let mut pending = references(&mut schema);
        while let Some(reference) = pending.pop() {
            let named = definition_named(&reference).and_then(|(definitions, name)| {
                Some((definitions, self.0.get(definitions)?.get(&name)?.clone(), name))
            });
            let Some((definitions, mut definition, name)) = named else {
                // Any other reference may lead to any definition, so all are kept.
                needed = DEFINITIONS
                    .iter()
                    .filter_map(|&definitions| Some((definitions.to_owned(), self.0.get(definitions)?.clone())))
                    .collect();
                break;
            };
            let kept = needed.entry(definitions).or_insert_with(|| json!({}));
            if kept.get(&name).is_none() {
                pending.append(&mut references(&mut definition));
                kept[name] = definition;
            }
        }
        if let Value::Object(fields) = &mut schema {
            fields.extend(needed);
            fields.extend(self.0.get("$schema").map(|dialect| ("$schema".to_owned(), dialect.clone())));
        }
        schema
    }
}

/// The strings of a `const`, or of an `enum`.
fn names(schema: &Value) -> Option<Vec<&str>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(name), None) => Some(vec![name.as_str()?]),
        (None, Some(names)) => names.as_array()?.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// The key that every branch requires, with a different constant string in each branch.
fn internal_tag(branches: &[Value]) -> Option<&str> {
    let mut candidates = branches.first()?.get("properties")?.as_object()?.keys();
    candidates.find_map(|key| {
        let tags: Option<BTreeSet<_>> = branches.iter().map(|branch| tag_in(branch, key)).collect();
        (tags?.len() == branches.len()).then_some(key.as_str())
    })
}

fn tag_in<'s>(branch: &'s Value, key: &str) -> Option<&'s str> {
    let tag = branch.get("properties")?.get(key)?.get("const")?.as_str()?;
    branch.get("required")?.as_array()?.iter().any(|required| required == key).then_some(tag)
}

fn unit<'s>(tag: &str, description: Option<&'s Value>) -> Described<'s> {
    let variant = Variant { tag: tag.to_owned(), representation: Representation::Unit };
    Described { variant, description, payload: fields_of(json!({})) }
}

/// A single variant, or all the unit variants that have no description.
fn external(branch: &Value) -> Option<Vec<Described<'_>>> {
    let description = branch.get("description");
    if let Some(names) = names(branch) {
        return Some(names.into_iter().map(|name| unit(name, description)).collect());
    }
    let properties = branch.get("properties")?.as_object()?;
    let (tag, payload) = properties.iter().next().filter(|_| properties.len() == 1)?;
    let required = branch.get("required")?.as_array()?;
    let variant = Variant { tag: tag.clone(), representation: Representation::External };
    (required.len() == 1 && required[0] == *tag)
        .then(|| vec![Described { variant, description, payload: payload.clone() }])
}

fn internal<'s>(branch: &'s Value, key: &str) -> Option<Described<'s>> {
    let tag = tag_in(branch, key)?.to_owned();
    let mut payload = branch.as_object()?.clone();
    payload.remove("description");
    if let Some(properties) = payload.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove(key);
        if properties.is_empty() {
            payload.remove("properties");
        }
    }
    if let Some(required) = payload.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|required| required != key);
        if required.is_empty() {
            payload.remove("required");
        }
    }
    if payload.contains_key("$ref") {
        // A newtype: the type it holds is the payload, and itself says that it is an object.
        payload.remove("type");
    }
    let variant = Variant { tag, representation: Representation::Internal { key: key.to_owned() } };
    Some(Described { variant, description: branch.get("description"), payload: Value::Object(payload) })
}

/// Whether the schema can be used for a tool as it is: its fields become the tool's parameters.
fn takes_fields(schema: &Value) -> bool {
    let composed = ["$ref", "oneOf", "anyOf", "allOf"].iter().any(|keyword| schema.get(keyword).is_some());
    schema.get("type").is_some_and(|kind| kind == "object") && !composed
}

/// The schema of an object with exactly these fields.
fn fields_of(properties: Value) -> Value {
    let required: Vec<_> = properties.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn safe_name(tag: &str, taken: &mut BTreeSet<String>) -> String {
    let safe = |character: char| if character.is_ascii_alphanumeric() || character == '-' { character } else { '_' };
    let name: String = tag.chars().map(safe).take(LONGEST_NAME).collect();
    let name = if name.is_empty() { "_".to_owned() } else { name };
    let mut unique = name.clone();
    let mut number = 1;
    while !taken.insert(unique.clone()) {
        number += 1;
        let suffix = format!("_{number}");
        // The name is ASCII, so bytes are characters.
        unique = format!("{}{suffix}", &name[..name.len().min(LONGEST_NAME - suffix.len())]);
    }
    unique
}

/// The definition that a reference such as `#/$defs/Name`, or a path inside it, leads to.
fn definition_named(reference: &str) -> Option<(&'static str, String)> {
    let mut tokens = reference.strip_prefix("#/")?.split('/');
    let first = tokens.next()?;
    let definitions = DEFINITIONS.into_iter().find(|definitions| *definitions == first)?;
    Some((definitions, tokens.next()?.replace("~1", "/").replace("~0", "~")))
}

fn references(schema: &mut Value) -> Vec<String> {
    let mut found = Vec::new();
    for_each_reference(schema, &mut |reference| found.push(reference.clone()));
    found
}

fn escaped(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}
