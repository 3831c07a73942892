//! Converts a schema to the dialect of OpenAI's strict mode, and converts answers back.
//!
//! | JSON Schema | strict | back |
//! |---|---|---|
//! | a root that is no object | an object with one field, `answer` | taken out |
//! | a field that may be missing | required, and may be null | a null goes, unless the schema allows it |
//! | `oneOf` | `anyOf` | |
//! | `allOf`, keywords beside `$ref` | one object with all fields | |
//! | an object of any keys | an array of `key` and `value` | an object |
//! | a tuple | an object with `item_1`, `item_2`, … | an array |
//! | any value, and whatever no rule covers | a string that contains JSON | parsed |
//! | `const` | `enum` | |
//! | keywords that strict mode refuses | left out; lengths and similar limits are added to the description | |
//!
//! So every answer in strict mode becomes a value of the original schema, except for the constraints that were left
//! out: lengths, patterns, uniqueness, `not`, `if`. The conversation validates the answer against the original schema
//! in any case.

mod convert;
mod merge;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use convert::Converter;
use shape::{Resolver, Shape};

/// The only field of a root that is not an object in the original schema.
const ANSWER: &str = "answer";

/// A schema in the strict dialect.
pub(crate) struct StrictSchema {
    value: Value,
    root: Shape,
    /// The shapes of definitions, by reference.
    shapes: BTreeMap<String, Shape>,
}

impl StrictSchema {
    /// Converts a schema to the strict dialect.
    pub(crate) fn of(original: &Value) -> Self {
        let mut converter = Converter::new(original);
        let (mut value, mut root) = converter.convert(original);
        let (definitions, shapes) = converter.finish();
        if let Shape::Reference { reference, name } = &root
            && let Some(definition) = definitions.get(name).filter(|definition| definition["type"] == "object")
        {
            // The root must not be a reference.
            (value, root) = (definition.clone(), Shape::Reference { reference: reference.clone(), name: name.clone() });
        }
        if value["type"] != "object" {
            value = convert::object(json!({ ANSWER: value }));
            root = Shape::Wrapped(Box::new(root));
        }
        if !definitions.is_empty() {
            value["$defs"] = Value::Object(definitions);
        }
        Self { value, root, shapes }
    }

    /// The schema to send.
    pub(crate) fn as_value(&self) -> &Value {
        &self.value
    }

    /// The original value of an answer. None if the answer is not JSON.
    pub(crate) fn read(&self, text: &str) -> Option<Value> {
        crate::drivers::json_lines::value(text).map(|answer| self.undo(answer))
    }

    /// The original value of an answer in the strict dialect. Anything that is not in that dialect is returned
    /// unchanged.
    pub(crate) fn undo(&self, answer: Value) -> Value {
        let resolver = Resolver { definitions: self.value.get("$defs"), shapes: &self.shapes };
        resolver.undo(&self.root, answer)
    }
}
