//! Converts JSON Schema to the strict dialect, place by place.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::merge::{is_annotation, merged, stands_alone};
use super::shape::{KEY, Shape, VALUE, item};

/// How many places are converted; the remaining ones are requested as text. A schema can contain itself without end.
const MOST_PLACES: usize = 20_000;

/// The maximum depth of nested places, which also limits the recursion of the conversion.
const DEEPEST: usize = 64;

/// Formats that strict mode supports.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Keywords that strict mode supports for numbers and for arrays.
const BOUNDS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COUNTS: [&str; 2] = ["minItems", "maxItems"];

/// Keywords that strict mode refuses, but that a model can follow if the description mentions them.
const DESCRIBED: [&str; 6] = ["minLength", "maxLength", "pattern", "uniqueItems", "minProperties", "maxProperties"];

/// A converted schema and the shape of its values.
type Converted = (Value, Shape);

pub(super) struct Converter<'s> {
    document: &'s Value,
    /// The name of each definition that is needed, by reference.
    names: BTreeMap<String, String>,
    pending: Vec<String>,
    places: usize,
    depth: usize,
}

/// The schema of an object with exactly these fields.
pub(super) fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

impl<'s> Converter<'s> {
    pub(super) fn new(document: &'s Value) -> Self {
        Self { document, names: BTreeMap::new(), pending: Vec::new(), places: 0, depth: 0 }
    }

    /// Converts the definitions that are needed. Returns the schemas by name and the shapes by reference.
    pub(super) fn finish(mut self) -> (Map<String, Value>, BTreeMap<String, Shape>) {
        let (mut definitions, mut shapes) = (Map::new(), BTreeMap::new());
        while let Some(reference) = self.pending.pop() {
            let (Some(schema), Some(name)) = (self.referred(&reference), self.names.get(&reference).cloned()) else {
                continue;
            };
            let (schema, shape) = self.convert(&schema);
            definitions.insert(name, schema);
            shapes.insert(reference, shape);
        }
        (definitions, shapes)
    }

    pub(super) fn convert(&mut self, schema: &Value) -> Converted {
        self.places += 1;
        let Some(fields) = schema.as_object().filter(|_| self.places < MOST_PLACES && self.depth < DEEPEST) else {
            return text(schema);
        };
        self.depth += 1;
        let (mut converted, shape) = self.convert_fields(schema, fields).unwrap_or_else(|| text(schema));
        self.depth -= 1;
        describe(&mut converted, fields);
        (converted, shape)
    }

    /// None if the value has to be requested as text.
    fn convert_fields(&mut self, schema: &Value, fields: &Map<String, Value>) -> Option<Converted> {
        if let Some(reference) = fields.get("$ref") {
            let reference = reference.as_str()?;
            if stands_alone(fields, "$ref") {
                return self.reference(reference);
            }
            let mut rest = fields.clone();
            rest.remove("$ref");
            let whole = merged(vec![Value::Object(rest), self.referred(reference)?])?;
            return Some(self.convert(&Value::Object(whole)));
        }
        if let Some(parts) = fields.get("allOf") {
            let mut rest = fields.clone();
            rest.remove("allOf");
            let parts = parts.as_array()?.iter().map(|part| self.resolved(part));
            let parts = std::iter::once(Some(Value::Object(rest))).chain(parts).collect::<Option<Vec<_>>>()?;
            return Some(self.convert(&Value::Object(merged(parts)?)));
        }
        if let Some(keyword) = ["oneOf", "anyOf"].into_iter().find(|keyword| fields.contains_key(*keyword)) {
            return self.alternatives(fields, keyword);
        }
        match (fields.get("enum"), fields.get("const")) {
            (_, Some(constant)) => return constants(std::slice::from_ref(constant)),
            (Some(values), None) => return constants(values.as_array()?),
            (None, None) => {}
        }
        match fields.get("type") {
            Some(Value::String(kind)) => self.of_kind(kind, fields),
            Some(Value::Array(kinds)) => self.of_kinds(kinds, schema),
            _ if fields.contains_key("properties") || fields.contains_key("additionalProperties") => {
                self.of_kind("object", fields)
            }
            _ if fields.contains_key("items") || fields.contains_key("prefixItems") => self.of_kind("array", fields),
            _ => None,
        }
    }

    fn reference(&mut self, reference: &str) -> Option<Converted> {
        if !self.names.contains_key(reference) {
            self.referred(reference)?;
            let name = self.free_name(reference);
            self.names.insert(reference.to_owned(), name);
            self.pending.push(reference.to_owned());
        }
        let name = self.names[reference].clone();
        Some((json!({ "$ref": format!("#/$defs/{name}") }), Shape::Reference { reference: reference.to_owned(), name }))
    }

    /// An unused name for a definition, of letters, digits and underscores.
    fn free_name(&self, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or_default();
        let safe = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
        let wanted: String = last.chars().map(safe).take(48).collect();
        let taken: BTreeSet<&str> = self.names.values().map(String::as_str).collect();
        let numbered = (1..).map(|number| if number == 1 { wanted.clone() } else { format!("{wanted}_{number}") });
        let mut free = numbered.filter(|name| !name.is_empty() && !taken.contains(name.as_str()));
        free.next().unwrap_or(wanted)
    }

    /// The schema that a local reference leads to.
    fn referred(&self, reference: &str) -> Option<Value> {
        self.document.pointer(reference.strip_prefix('#')?).cloned()
    }

    /// The schema, or the schema that it refers to, so that its fields can be read.
    fn resolved(&mut self, schema: &Value) -> Option<Value> {
        self.places += 1;
        let reference = schema.get("$ref").and_then(Value::as_str);
        let Some(reference) =
            reference.filter(|_| schema.as_object().is_some_and(|fields| stands_alone(fields, "$ref")))
        else {
            return Some(schema.clone());
        };
        (self.places < MOST_PLACES).then(|| self.referred(reference))?
    }

    /// Converts alternatives. The keywords beside them apply to each branch.
    fn alternatives(&mut self, fields: &Map<String, Value>, keyword: &str) -> Option<Converted> {
        let mut rest = fields.clone();
        rest.remove(keyword);
        rest.retain(|keyword, _| !is_annotation(keyword));
        let mut branches = Vec::new();
        for branch in fields[keyword].as_array()? {
            let branch = match rest.is_empty() {
                true => branch.clone(),
                false => Value::Object(merged(vec![self.resolved(branch)?, Value::Object(rest.clone())])?),
            };
            branches.push(self.convert(&branch));
        }
        match branches.len() {
            0 => None,
            1 => branches.pop(),
            _ => Some(any_of(branches)),
        }
    }

    fn of_kinds(&mut self, kinds: &[Value], schema: &Value) -> Option<Converted> {
        let composed = |kind: &Value| kind == "object" || kind == "array";
        if !kinds.iter().any(composed) {
            return self.scalar(json!(kinds), schema.as_object()?);
        }
        let of_kind = |kind: &Value| {
            let mut one = schema.clone();
            one["type"] = kind.clone();
            self.convert(&one)
        };
        let mut branches: Vec<_> = kinds.iter().map(of_kind).collect();
        if branches.len() == 1 { branches.pop() } else { Some(any_of(branches)) }
    }

    fn of_kind(&mut self, kind: &str, fields: &Map<String, Value>) -> Option<Converted> {
        match kind {
            "object" => self.object(fields),
            "array" => self.array(fields),
            _ => self.scalar(json!(kind), fields),
        }
    }

    fn scalar(&self, kind: Value, fields: &Map<String, Value>) -> Option<Converted> {
        let mut scalar = json!({ "type": kind });
        for keyword in BOUNDS {
            if let Some(bound) = fields.get(keyword).filter(|bound| bound.is_number()) {
                scalar[keyword] = bound.clone();
            }
        }
        if let Some(format) = fields.get("format").filter(|format| FORMATS.iter().any(|known| *format == known)) {
            scalar["format"] = format.clone();
        }
        Some((scalar, Shape::Same))
    }

    fn array(&mut self, fields: &Map<String, Value>) -> Option<Converted> {
        // The older dialects use a list of `items` for what is `prefixItems` in the current one.
        let listed = fields.get("prefixItems").or_else(|| fields.get("items").filter(|items| items.is_array()));
        if let Some(items) = listed.and_then(Value::as_array) {
            let (mut properties, mut shapes) = (Map::new(), Vec::new());
            for (index, schema) in items.iter().enumerate() {
                let (schema, shape) = self.convert(schema);
                properties.insert(item(index), schema);
                shapes.push(shape);
            }
            return Some((object(Value::Object(properties)), Shape::Tuple(shapes)));
        }
        let (items, shape) = self.convert(fields.get("items").unwrap_or(&Value::Bool(true)));
        let mut array = json!({ "type": "array", "items": items });
        for keyword in COUNTS {
            if let Some(count) = fields.get(keyword) {
                array[keyword] = count.clone();
            }
        }
        Some((array, if shape == Shape::Same { Shape::Same } else { Shape::Array(Box::new(shape)) }))
    }

    fn object(&mut self, fields: &Map<String, Value>) -> Option<Converted> {
        let required: BTreeSet<&str> =
            fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let none = Map::new();
        let properties = fields.get("properties").and_then(Value::as_object).unwrap_or(&none);
        if properties.is_empty() && required.is_empty() && fields.get("additionalProperties") != Some(&json!(false)) {
            return Some(self.entries(fields));
        }
        let undescribed =
            required.iter().filter(|name| !properties.contains_key(**name)).map(|name| (*name, &Value::Null));
        let described = properties.iter().map(|(name, schema)| (name.as_str(), schema));
        let (mut converted, mut shapes) = (Map::new(), BTreeMap::new());
        for (name, schema) in described.chain(undescribed) {
            if *schema == Value::Bool(false) && !required.contains(name) {
                continue;
            }
            let (mut strict, mut shape) = self.convert(schema);
            if !required.contains(name) && !self.allows_null(schema, 0) {
                strict = nullable(strict);
                shape = Shape::Optional(Box::new(shape));
            }
            converted.insert(name.to_owned(), strict);
            if shape != Shape::Same {
                shapes.insert(name.to_owned(), shape);
            }
        }
        let shape = if shapes.is_empty() { Shape::Same } else { Shape::Object(shapes) };
        Some((object(Value::Object(converted)), shape))
    }

    /// Converts an object with arbitrary keys.
    fn entries(&mut self, fields: &Map<String, Value>) -> Converted {
        let values = fields.get("additionalProperties").filter(|_| !fields.contains_key("patternProperties"));
        let (value, shape) = self.convert(values.unwrap_or(&Value::Bool(true)));
        let entry = object(json!({ KEY: { "type": "string" }, VALUE: value }));
        (json!({ "type": "array", "items": entry }), Shape::Entries(Box::new(shape)))
    }

    /// Whether null is visibly one of the schema's values. If this is missed, a null is treated as a missing field,
    /// which is acceptable too.
    fn allows_null(&self, schema: &Value, depth: usize) -> bool {
        let Some(fields) = schema.as_object() else { return *schema != Value::Bool(false) };
        if depth > DEEPEST {
            return false;
        }
        let allows = |schema: &Value| self.allows_null(schema, depth + 1);
        let any =
            |keyword: &str| fields.get(keyword).and_then(Value::as_array).is_none_or(|all| all.iter().any(allows));
        let all = fields.get("allOf").and_then(Value::as_array).is_none_or(|all| all.iter().all(allows));
        let of_kind = match fields.get("type") {
            None => true,
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
            Some(kind) => kind == "null",
        };
        let referred = fields.get("$ref").and_then(Value::as_str);
        let referred = referred.is_none_or(|place| self.referred(place).is_some_and(|schema| allows(&schema)));
        let listed = fields.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&Value::Null));
        let constant = fields.get("const").is_none_or(Value::is_null);
        of_kind && listed && constant && all && any("anyOf") && any("oneOf") && referred
    }
}

/// Any value, as JSON in a string.
fn text(schema: &Value) -> Converted {
    let says = match schema {
        Value::Object(fields) if fields.keys().any(|keyword| !is_annotation(keyword)) => {
            format!("JSON, as a string, that fits this JSON schema: {schema}")
        }
        _ => "Any JSON value, as a string that holds the JSON.".to_owned(),
    };
    (json!({ "type": "string", "description": says }), Shape::Text)
}

/// None if one of the values is not a scalar.
fn constants(values: &[Value]) -> Option<Converted> {
    let mut kinds: Vec<&str> = Vec::new();
    for value in values {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::String(_) => "string",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::Array(_) | Value::Object(_) => return None,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let kind = match kinds[..] {
        [] => return None,
        [kind] => json!(kind),
        _ => json!(kinds),
    };
    Some((json!({ "type": kind, "enum": values }), Shape::Same))
}

fn any_of(branches: Vec<Converted>) -> Converted {
    let schemas: Vec<Value> = branches.iter().map(|(schema, _)| schema.clone()).collect();
    let same = branches.iter().all(|(_, shape)| *shape == Shape::Same);
    (json!({ "anyOf": schemas }), if same { Shape::Same } else { Shape::AnyOf(branches) })
}

/// The same schema, allowing null as well.
fn nullable(mut schema: Value) -> Value {
    if let Some(branches) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        branches.push(json!({ "type": "null" }));
        return schema;
    }
    match schema.get("type").cloned() {
        Some(Value::String(kind)) if kind != "object" && kind != "array" => {
            schema["type"] = json!([kind, "null"]);
            if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
                values.push(Value::Null);
            }
            schema
        }
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

/// Adds the original description, and the constraints that the dialect cannot express. A reference gets no description,
/// because nothing may stand beside it.
fn describe(converted: &mut Value, original: &Map<String, Value>) {
    let Some(fields) = converted.as_object_mut().filter(|fields| !fields.contains_key("$ref")) else { return };
    let strict = fields.get("description").and_then(Value::as_str);
    let says = original.get("description").and_then(Value::as_str);
    // The description of merged parts has already been added.
    let says = says.filter(|says| !strict.is_some_and(|strict| strict.contains(says)));
    let demands: Vec<String> =
        DESCRIBED.iter().filter_map(|keyword| Some(format!("{keyword}: {}", original.get(*keyword)?))).collect();
    let demands = (!demands.is_empty() && strict.is_none()).then(|| format!("({})", demands.join(", ")));
    let said: Vec<&str> = says.into_iter().chain(strict).chain(demands.as_deref()).collect();
    if !said.is_empty() {
        let said = said.join(" ");
        fields.insert("description".to_owned(), said.into());
    }
}
