//! The shape of a place in a strict schema, and the conversion of a value there to the original schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ANSWER;

/// How a value in the strict dialect is converted to a value of the original schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// The value is unchanged.
    Same,
    /// The value is JSON in a string.
    Text,
    /// The fields that need a conversion.
    Object(BTreeMap<String, Self>),
    /// A field that may be missing, which null represents.
    Optional(Box<Self>),
    /// An array of keys and values represents an object.
    Entries(Box<Self>),
    Array(Box<Self>),
    /// An object with numbered fields represents an array.
    Tuple(Vec<Self>),
    /// The shape of a definition.
    Reference {
        /// The reference in the original schema.
        reference: String,
        /// The name in the strict schema.
        name: String,
    },
    /// The shape of the first branch that the value fits; each branch with its strict schema.
    AnyOf(Vec<(Value, Self)>),
    /// The value is the only field of the root.
    Wrapped(Box<Self>),
}

/// The field names of an entry.
pub(super) const KEY: &str = "key";
pub(super) const VALUE: &str = "value";

/// The field name of a tuple's element; `index` starts at 0.
pub(super) fn item(index: usize) -> String {
    format!("item_{}", index + 1)
}

/// What is needed to resolve references.
pub(super) struct Resolver<'s> {
    /// The definitions of the strict schema.
    pub(super) definitions: Option<&'s Value>,
    pub(super) shapes: &'s BTreeMap<String, Shape>,
}

impl Resolver<'_> {
    pub(super) fn undo(&self, shape: &Shape, value: Value) -> Value {
        match (shape, value) {
            (Shape::Text, Value::String(text)) => {
                crate::drivers::json_lines::value(&text).unwrap_or(Value::String(text))
            }
            (Shape::Object(shapes), Value::Object(fields)) => Value::Object(self.fields(shapes, fields)),
            (Shape::Optional(shape), value) => self.undo(shape, value),
            (Shape::Entries(shape), Value::Array(entries)) if entries.iter().all(is_entry) => {
                let fields = entries.into_iter().filter_map(entry);
                Value::Object(fields.map(|(key, value)| (key, self.undo(shape, value))).collect())
            }
            (Shape::Entries(shape), Value::Object(fields)) => {
                Value::Object(fields.into_iter().map(|(key, value)| (key, self.undo(shape, value))).collect())
            }
            (Shape::Array(shape), Value::Array(items)) => {
                Value::Array(items.into_iter().map(|value| self.undo(shape, value)).collect())
            }
            (Shape::Tuple(shapes), Value::Object(mut fields))
                if (0..shapes.len()).all(|index| fields.contains_key(&item(index))) =>
            {
                let items = shapes.iter().enumerate();
                Value::Array(
                    items
                        .map(|(index, shape)| self.undo(shape, fields.remove(&item(index)).unwrap_or_default()))
                        .collect(),
                )
            }
            (Shape::Reference { reference, .. }, value) => match self.shapes.get(reference) {
                Some(shape) => self.undo(shape, value),
                None => value,
            },
            (Shape::AnyOf(branches), value) => {
                let fitting = |counted| branches.iter().find(|(schema, _)| self.fits(schema, &value, counted));
                match fitting(true).or_else(|| fitting(false)) {
                    Some((_, shape)) => self.undo(shape, value),
                    None => value,
                }
            }
            (Shape::Wrapped(shape), Value::Object(mut fields)) if fields.len() == 1 && fields.contains_key(ANSWER) => {
                self.undo(shape, fields.remove(ANSWER).unwrap_or_default())
            }
            (Shape::Wrapped(shape), value) => self.undo(shape, value),
            (_, value) => value,
        }
    }

    fn fields(&self, shapes: &BTreeMap<String, Shape>, fields: Map<String, Value>) -> Map<String, Value> {
        let undone = fields.into_iter().filter_map(|(key, value)| match shapes.get(&key) {
            Some(Shape::Optional(_)) if value.is_null() => None,
            Some(shape) => Some((key, self.undo(shape, value))),
            None => Some((key, value)),
        });
        undone.collect()
    }

    /// Whether a value fits a strict schema, as far as needed to distinguish branches: by kinds, constants, fields and,
    /// if `counted`, the number of items. A provider may allow too few or too many items.
    fn fits(&self, schema: &Value, value: &Value, counted: bool) -> bool {
        if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
            let definition = self.definitions.and_then(|definitions| definitions.get(name));
            return definition.is_some_and(|definition| self.fits(definition, value, counted));
        }
        if let Some(branches) = schema["anyOf"].as_array() {
            return branches.iter().any(|branch| self.fits(branch, value, counted));
        }
        if let Some(values) = schema["enum"].as_array() {
            return values.contains(value);
        }
        let is_kind = |kind: &Value| kind.as_str().is_some_and(|kind| is_of(kind, value));
        let kind = &schema["type"];
        if !is_kind(kind) && !kind.as_array().is_some_and(|kinds| kinds.iter().any(is_kind)) {
            return false;
        }
        match (value, schema["properties"].as_object()) {
            (Value::Object(fields), Some(properties)) => {
                fields.len() == properties.len()
                    && fields
                        .iter()
                        .all(|(key, value)| properties.get(key).is_some_and(|field| self.fits(field, value, counted)))
            }
            (Value::Array(items), _) => {
                (!counted || has_so_many(schema, items.len()))
                    && items.iter().all(|value| self.fits(&schema["items"], value, counted))
            }
            _ => true,
        }
    }
}

fn has_so_many(schema: &Value, items: usize) -> bool {
    let bound = |keyword: &str| schema[keyword].as_u64();
    bound("minItems").is_none_or(|least| items as u64 >= least)
        && bound("maxItems").is_none_or(|most| items as u64 <= most)
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

fn is_entry(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.len() == 2 && fields.contains_key(VALUE))
        && value.get(KEY).is_some_and(Value::is_string)
}

fn entry(value: Value) -> Option<(String, Value)> {
    let Value::Object(mut fields) = value else { return None };
    match (fields.remove(KEY), fields.remove(VALUE)) {
        (Some(Value::String(key)), Some(value)) => Some((key, value)),
        _ => None,
    }
}
