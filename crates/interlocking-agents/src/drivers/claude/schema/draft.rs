//! Converts a schema keyword by keyword: what the program's validator does not support, and what differs between the
//! drafts.
//!
//! The result is a draft-07 schema that the program's validator (Ajv in its strict mode) accepts, and also a schema of
//! the 2020 draft, as the provider requires for a tool's input.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Keywords that are kept unchanged.
const KEPT: [&str; 22] = [
    "$comment",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "examples",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Keywords that constrain values, and are removed if they cannot be converted. Other unknown keywords constrain nothing.
const REMOVED: [&str; 12] = [
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
    "pattern",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The formats of text that every validator knows by name. Some validators refuse others, such as `uint32`.
const FORMATS: [&str; 8] = ["date", "date-time", "email", "ipv4", "ipv6", "time", "uri", "uuid"];

/// Converts a schema so that both the program and the provider accept it. The result allows every value that the
/// original allows.
pub(super) fn convert(schema: &Value) -> Value {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let is_old = ["draft-04", "draft-06", "draft-07"].iter().any(|draft| dialect.contains(draft));
    let mut loosened = BTreeSet::new();
    // If a definition is loosened, everything that refers to it is loosened, so the conversion is repeated until
    // nothing changes.
    loop {
        let mut conversion = Conversion { loosened: &loosened, is_old, lost: false };
        let converted = conversion.schema(schema);
        let mut found = BTreeSet::new();
        for place in ["$defs", "definitions"] {
            for (name, definition) in schema.get(place).and_then(Value::as_object).into_iter().flatten() {
                if conversion.within(|inside| inside.schema(definition)).1 {
                    found.insert(format!("#/{place}/{}", name.replace('~', "~0").replace('/', "~1")));
                }
            }
        }
        if found == loosened {
            return converted;
        }
        loosened = found;
    }
}

/// One pass over a schema.
struct Conversion<'a> {
    /// References to definitions that were loosened.
    loosened: &'a BTreeSet<String>,
    /// Whether the dialect ignores the keywords beside a reference, and calls tuples `items`.
    is_old: bool,
    /// Whether the converted schema was loosened.
    lost: bool,
}

impl Conversion<'_> {
    fn schema(&mut self, schema: &Value) -> Value {
        let Value::Object(fields) = schema else { return schema.clone() };
        let mut converted = Map::new();
        if let Some(reference) = fields.get("$ref") {
            self.reference(reference, &mut converted);
        }
        let alone = self.is_old && fields.contains_key("$ref");
        // Sorted by name, because one keyword may add to another. The order of a map is not reliable: another crate may
        // enable another order.
        for (keyword, value) in fields.iter().collect::<BTreeMap<_, _>>() {
            match keyword.as_str() {
                "$defs" | "definitions" => {
                    // A loosened definition matters only where it is referred to.
                    let (definitions, _) = self.within(|inside| inside.each(value));
                    converted.insert(keyword.clone(), definitions);
                }
                "title" | "description" => drop(converted.insert(keyword.clone(), value.clone())),
                _ if alone => {}
                keyword if KEPT.contains(&keyword) => drop(converted.insert(keyword.to_owned(), value.clone())),
                keyword => self.keyword(keyword, value, fields, &mut converted),
            }
        }
        Value::Object(converted)
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        fields: &Map<String, Value>,
        converted: &mut Map<String, Value>,
    ) {
        let changed = match keyword {
            "properties" => Some(self.each(value)),
            "patternProperties" if patterns_are_known(fields) => Some(self.each(value)),
            "additionalProperties" if patterns_are_known(fields) => Some(self.schema(value)),
            "patternProperties" | "additionalProperties" => None,
            "propertyNames" => Some(self.schema(value)),
            "allOf" | "anyOf" => self.branches(value),
            "enum" => distinct(value),
            "exclusiveMinimum" | "exclusiveMaximum" => value.is_number().then(|| value.clone()),
            "pattern" => value.as_str().filter(|pattern| is_known(pattern)).map(|_| value.clone()),
            // A format is information for the model. No validator of the 2020 draft checks it.
            "format" => FORMATS.iter().any(|known| value == *known).then(|| value.clone()),
            "oneOf" => return self.one_of(value, fields, converted),
            "items" | "prefixItems" => return self.items(fields, converted),
            "not" => self.unless_lost(|inside| inside.schema(value)),
            // Draft-07 does not support these limits, and always requires one matching item.
            "contains" if fields.contains_key("minContains") || fields.contains_key("maxContains") => None,
            "contains" => Some(self.schema(value)),
            "if" => return self.conditional(fields, converted),
            _ => None,
        };
        match changed {
            Some(changed) => drop(converted.insert(keyword.to_owned(), changed)),
            None => {
                let is_asserting =
                    REMOVED.contains(&keyword) || !matches!(keyword, "format") && self.is_asserting(keyword);
                self.lost |= is_asserting;
            }
        }
    }

    /// Whether a keyword that is otherwise converted constrains values, so that leaving it out loosens the schema.
    fn is_asserting(&self, keyword: &str) -> bool {
        ["patternProperties", "additionalProperties", "allOf", "anyOf", "enum", "exclusiveMinimum", "exclusiveMaximum"]
            .contains(&keyword)
    }

    /// Converts a part, and returns whether that part was loosened. The schema around it is not marked as loosened.
    fn within<T>(&self, convert: impl FnOnce(&mut Conversion<'_>) -> T) -> (T, bool) {
        let mut inside = Conversion { loosened: self.loosened, is_old: self.is_old, lost: false };
        let made = convert(&mut inside);
        (made, inside.lost)
    }

    /// For keywords that become stricter if a part of them is loosened: none if a part of it was loosened.
    fn unless_lost<T>(&self, convert: impl FnOnce(&mut Conversion<'_>) -> T) -> Option<T> {
        let (made, lost) = self.within(convert);
        (!lost).then_some(made)
    }

    fn each(&mut self, schemas: &Value) -> Value {
        let Value::Object(schemas) = schemas else { return schemas.clone() };
        schemas.iter().map(|(name, schema)| (name.clone(), self.schema(schema))).collect::<Map<_, _>>().into()
    }

    fn branches(&mut self, schemas: &Value) -> Option<Value> {
        let schemas = schemas.as_array().filter(|schemas| !schemas.is_empty())?;
        Some(schemas.iter().map(|schema| self.schema(schema)).collect())
    }

    /// A reference into this document is kept. Other references are removed, because what they lead to is not available.
    fn reference(&mut self, reference: &Value, converted: &mut Map<String, Value>) {
        let local = reference.as_str().filter(|reference| *reference == "#" || reference.starts_with("#/"));
        let Some(local) = local else {
            self.lost = true;
            return;
        };
        // If the reference does not lead to a whole definition, it is unknown whether the place was loosened.
        let to_definition = local.split('/').count() == 3;
        self.lost |= !to_definition || self.loosened.contains(local);
        converted.insert("$ref".to_owned(), reference.clone());
    }

    /// Exactly one branch must match. If a branch was loosened, a second branch might match as well.
    fn one_of(&mut self, value: &Value, fields: &Map<String, Value>, converted: &mut Map<String, Value>) {
        let (branches, lost) = self.within(|inside| inside.branches(value));
        self.lost |= lost || branches.is_none();
        match branches {
            None => {}
            Some(branches) if !lost => drop(converted.insert("oneOf".to_owned(), branches)),
            Some(branches) if !fields.contains_key("anyOf") => drop(converted.insert("anyOf".to_owned(), branches)),
            Some(branches) => {
                // Added beside an existing `anyOf`.
                let all = converted.entry("allOf").or_insert_with(|| json!([]));
                if let Value::Array(all) = all {
                    all.push(json!({ "anyOf": branches }));
                }
            }
        }
    }

    /// Both drafts support tuples, but in different ways, so each item may match any of the item schemas.
    fn items(&mut self, fields: &Map<String, Value>, converted: &mut Map<String, Value>) {
        let tuple = match (fields.get("prefixItems"), fields.get("items")) {
            (Some(Value::Array(items)), rest) if !self.is_old => Some((items, rest)),
            (_, Some(Value::Array(items))) => Some((items, fields.get("additionalItems"))),
            _ => None,
        };
        let Some((items, rest)) = tuple else {
            if let Some(item) = fields.get("items") {
                let item = self.schema(item);
                converted.insert("items".to_owned(), item);
            }
            return;
        };
        self.lost = true;
        let most = fields.get("maxItems").and_then(Value::as_u64);
        let is_bounded = most.is_some_and(|most| most <= items.len() as u64);
        let mut kinds = Vec::new();
        for item in items.iter().chain(rest.filter(|rest| !rest.is_boolean())) {
            let kind = self.schema(item);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let others_are_free = !is_bounded && rest.is_none_or(|rest| *rest == Value::Bool(true));
        if others_are_free || kinds.is_empty() {
            return;
        }
        let item = if kinds.len() == 1 { kinds.remove(0) } else { json!({ "anyOf": kinds }) };
        converted.insert("items".to_owned(), item);
    }

    fn conditional(&mut self, fields: &Map<String, Value>, converted: &mut Map<String, Value>) {
        let parts = ["if", "then", "else"].into_iter().filter_map(|keyword| Some((keyword, fields.get(keyword)?)));
        let made = self.unless_lost(|inside| {
            parts.map(|(keyword, part)| (keyword.to_owned(), inside.schema(part))).collect::<Map<_, _>>()
        });
        match made {
            Some(made) => converted.extend(made),
            None => self.lost = true,
        }
    }
}

/// The values of an `enum` without duplicates; none if it is empty.
fn distinct(values: &Value) -> Option<Value> {
    let mut kept: Vec<&Value> = Vec::new();
    for value in values.as_array()? {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    (!kept.is_empty()).then(|| json!(kept))
}

/// Whether all patterns for names are supported; which names are additional depends on each of them.
fn patterns_are_known(fields: &Map<String, Value>) -> bool {
    let patterns = fields.get("patternProperties").and_then(Value::as_object);
    patterns.is_none_or(|patterns| patterns.keys().all(|pattern| is_known(pattern)))
}

/// Whether a pattern means the same in the program's regular expressions, which are those of JavaScript with the flag
/// `u`.
fn is_known(pattern: &str) -> bool {
    let mut characters = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                let Some(escaped) = characters.next() else { return false };
                let known = "dDwWsSbBnrtvf^$\\.*+?()[]{}|/".contains(escaped) || in_class && escaped == '-';
                if !known {
                    return false;
                }
            }
            '[' if in_class => return false,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && characters.peek() == Some(&'?') => {
                let mut ahead = characters.clone().skip(1);
                match ahead.next() {
                    Some(':' | '=' | '!') => {}
                    Some('<') if matches!(ahead.next(), Some('=' | '!')) => {}
                    _ => return false,
                }
            }
            _ => {}
        }
    }
    true
}
