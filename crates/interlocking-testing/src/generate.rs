//! Generates values of a JSON schema: one of each variant, and values at the bounds.

use interlocking_agents::Schema;
use serde_json::{Map, Value, json};

/// How deep a schema is followed, references included. Below that depth, optional parts are left out.
const MAX_DEPTH: usize = 12;
/// Below this depth the empty list comes first, as the schema is probably recursive there.
const RECURSIVE_DEPTH: usize = 5;
/// How many values of one part are combined with others.
const MAX_PART_VALUES: usize = 16;

/// Up to `most` values that the schema allows, the simplest first: all variants with the first value of each part, then
/// those that differ from these in one part, in two parts, and so on.
pub(crate) fn generate(schema: &Value, most: usize) -> Vec<Value> {
    let Ok(validator) = Schema::new(schema.clone()) else { return Vec::new() };
    let mut kept: Vec<Value> = Vec::new();
    for value in (Generator { root: schema, most: most.saturating_mul(4) }).values(schema, 0) {
        if kept.len() < most && !kept.contains(&value) && validator.violations(&value).is_empty() {
            kept.push(value);
        }
    }
    kept
}

struct Generator<'s> {
    root: &'s Value,
    most: usize,
}

impl Generator<'_> {
    fn values(&self, schema: &Value, depth: usize) -> Vec<Value> {
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        let fields = match schema {
            Value::Object(fields) => fields,
            Value::Bool(true) => return vec![json!({}), Value::Null],
            _ => return Vec::new(),
        };
        if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|place| self.root.pointer(place));
            return target.map(|target| self.values(&beside(fields, "$ref", target), depth + 1)).unwrap_or_default();
        }
        if let Some(parts) = fields.get("allOf").and_then(Value::as_array) {
            let whole = parts.iter().fold(without(fields, "allOf"), |whole, part| merged(&whole, &self.followed(part)));
            return self.values(&whole, depth + 1);
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(variants) = fields.get(choice).and_then(Value::as_array) {
                let variants = variants.iter().map(|variant| self.values(&beside(fields, choice, variant), depth + 1));
                return interleaved(variants.collect());
            }
        }
        if let Some(value) = fields.get("const") {
            return vec![value.clone()];
        }
        if let Some(values) = fields.get("enum").and_then(Value::as_array) {
            return values.clone();
        }
        match fields.get("type") {
            Some(Value::Array(types)) => {
                let of_each = types.iter().filter_map(Value::as_str).map(|ty| self.typed(ty, fields, depth));
                interleaved(of_each.collect())
            }
            Some(Value::String(ty)) => self.typed(ty, fields, depth),
            _ if fields.contains_key("properties") => self.typed("object", fields, depth),
            _ => vec![json!({}), Value::Null],
        }
    }

    /// The schema merged with the target of its reference, if it has one.
    fn followed(&self, schema: &Value) -> Value {
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match (schema.as_object(), reference.and_then(|place| self.root.pointer(place))) {
            (Some(fields), Some(target)) => beside(fields, "$ref", target),
            _ => schema.clone(),
        }
    }

    fn typed(&self, ty: &str, fields: &Map<String, Value>, depth: usize) -> Vec<Value> {
        match ty {
            "null" => vec![Value::Null],
            "boolean" => vec![json!(true), json!(false)],
            "integer" => integers(fields),
            "number" => numbers(fields),
            "string" => texts(fields),
            "array" => self.arrays(fields, depth),
            "object" => self.objects(fields, depth),
            _ => Vec::new(),
        }
    }

    fn arrays(&self, fields: &Map<String, Value>, depth: usize) -> Vec<Value> {
        let number = |name: &str| fields.get(name).and_then(Value::as_u64).map(|number| number as usize);
        let least = number("minItems").unwrap_or_default();
        if let Some(items) = fields.get("prefixItems").and_then(Value::as_array) {
            let parts = items.iter().map(|item| self.part(item, depth).into_iter().map(Some).collect()).collect();
            return combined(parts, self.most).into_iter().map(|items| items.into_iter().flatten().collect()).collect();
        }
        let items = fields.get("items").map(|items| self.part(items, depth)).unwrap_or_default();
        let Some(first) = items.first() else { return vec![json!([])] };
        let filled = |items: &[&Value]| {
            let missing = least.saturating_sub(items.len());
            items.iter().copied().chain(std::iter::repeat_n(first, missing)).cloned().collect::<Value>()
        };
        let mut lists = vec![filled(&[first]), filled(&[])];
        if depth > RECURSIVE_DEPTH {
            lists.swap(0, 1);
        }
        lists.extend(items[1..].iter().map(|item| filled(&[item])));
        lists.extend(items[1..].iter().take(3).map(|item| filled(&[first, item])));
        lists
    }

    fn objects(&self, fields: &Map<String, Value>, depth: usize) -> Vec<Value> {
        let none = Map::new();
        let properties = fields.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = fields.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
        if properties.is_empty() {
            let others = fields.get("additionalProperties").filter(|others| others.is_object());
            let values = others.map(|others| self.part(others, depth)).unwrap_or_default();
            let mut maps = vec![json!({})];
            maps.extend(values.into_iter().map(|value| json!({ "key": value })));
            return maps;
        }
        let mut parts: Vec<Vec<Option<Value>>> = Vec::new();
        for (name, schema) in properties {
            let mut part: Vec<_> = self.part(schema, depth).into_iter().map(Some).collect();
            if !is_required(name) {
                part.insert(part.len().min(1), None);
            }
            if part.is_empty() {
                // No value is known for this property, so none is known for the object.
                return Vec::new();
            }
            parts.push(part);
        }
        let object = |values: Vec<Option<Value>>| {
            let named = properties.keys().zip(values).filter_map(|(name, value)| Some((name.clone(), value?)));
            Value::Object(named.collect())
        };
        combined(parts, self.most).into_iter().map(object).collect()
    }

    fn part(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let mut values = self.values(schema, depth + 1);
        values.truncate(MAX_PART_VALUES);
        values
    }
}

/// Combinations of one value per part, up to `most`: first the combination of first values, then those that differ in
/// one part, in two parts, and so on.
fn combined(parts: Vec<Vec<Option<Value>>>, most: usize) -> Vec<Vec<Option<Value>>> {
    let mut found = Vec::new();
    for others in 0..=parts.len() {
        extend(&parts, others, &mut Vec::new(), most, &mut found);
        if found.len() >= most {
            break;
        }
    }
    found
}

/// Adds the combinations that begin with `chosen` and differ in exactly `others` of the remaining parts.
fn extend(
    parts: &[Vec<Option<Value>>],
    others: usize,
    chosen: &mut Vec<Option<Value>>,
    most: usize,
    found: &mut Vec<Vec<Option<Value>>>,
) {
    if found.len() >= most || others > parts.len() - chosen.len() {
        return;
    }
    let Some(part) = parts.get(chosen.len()) else {
        found.push(chosen.clone());
        return;
    };
    for (position, value) in part.iter().enumerate() {
        let differs = usize::from(position > 0);
        if differs <= others {
            chosen.push(value.clone());
            extend(parts, others - differs, chosen, most, found);
            chosen.pop();
        }
    }
}

/// The first value of each list, then the second of each, and so on.
fn interleaved(lists: Vec<Vec<Value>>) -> Vec<Value> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|position| lists.iter().filter_map(move |list| list.get(position))).cloned().collect()
}

fn integers(fields: &Map<String, Value>) -> Vec<Value> {
    let bound = |name: &str| fields.get(name).and_then(Value::as_i64);
    let format = fields.get("format").and_then(Value::as_str).unwrap_or_default();
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|bound| bound.saturating_add(1)));
    let least = least.or_else(|| format.starts_with("uint").then_some(0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|bound| bound.saturating_sub(1)));
    let most = most.unwrap_or(match format {
        "int8" => i8::MAX.into(),
        "uint8" => u8::MAX.into(),
        "int16" => i16::MAX.into(),
        "uint16" => u16::MAX.into(),
        "int32" => i32::MAX.into(),
        "uint32" => u32::MAX.into(),
        _ => 1_000_000,
    });
    let mut values = vec![1.clamp(least.unwrap_or(i64::MIN).min(most), most)];
    values.extend([0, least.unwrap_or(-1), most, 2, 10, 100]);
    values.extend(bound("multipleOf"));
    values.into_iter().filter(|value| (least.unwrap_or(i64::MIN)..=most).contains(value)).map(Value::from).collect()
}

fn numbers(fields: &Map<String, Value>) -> Vec<Value> {
    let bound = |name: &str| fields.get(name).and_then(Value::as_f64);
    let mut values = vec![1.0, 0.0, 0.5, -1.0, 100.0];
    values.extend([bound("minimum"), bound("maximum")].into_iter().flatten());
    values.extend(bound("exclusiveMinimum").map(|bound| bound + 0.5));
    values.extend(bound("exclusiveMaximum").map(|bound| bound - 0.5));
    let (least, most) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
    values.into_iter().filter(|value| (least..=most).contains(value)).map(Value::from).collect()
}

fn texts(fields: &Map<String, Value>) -> Vec<Value> {
    let number = |name: &str| fields.get(name).and_then(Value::as_u64).map(|number| number as usize);
    let (least, most) = (number("minLength").unwrap_or_default(), number("maxLength").unwrap_or(usize::MAX));
    let of_format = match fields.get("format").and_then(Value::as_str).unwrap_or_default() {
        "date-time" => Some("2024-02-29T12:00:00Z"),
        "date" => Some("2024-02-29"),
        "time" => Some("12:00:00Z"),
        "duration" => Some("PT1H"),
        "uuid" => Some("5e9f1b0c-8f3e-4c7a-9f10-0242ac120002"),
        "uri" | "url" | "iri" => Some("https://example.com/"),
        "email" => Some("someone@example.com"),
        "hostname" => Some("example.com"),
        "ip" | "ipv4" => Some("192.0.2.1"),
        "ipv6" => Some("2001:db8::1"),
        _ => None,
    };
    if let Some(text) = of_format {
        return vec![json!(text)];
    }
    let sized = |text: &str| {
        let padding = least.saturating_sub(text.chars().count());
        text.chars().chain(std::iter::repeat_n('x', padding)).take(most).collect::<String>()
    };
    if fields.contains_key("pattern") {
        // Possibly none of them matches the pattern: then the author must give a sample.
        let only = Schema::new(Value::Object(fields.clone()));
        let known = ["a", "A", "text", "1", "a-1", "a/b", "a.b", "0.1.0", "main", "TEXT", "#a", "@a", "_a", "12:00"];
        let hashes = [7, 32, 40, 64].map(|length| "0123456789abcdef".repeat(4)[..length].to_owned());
        let tried = known.iter().map(|text| sized(text)).chain(hashes);
        return tried
            .map(Value::from)
            .filter(|text| only.as_ref().is_ok_and(|only| only.violations(text).is_empty()))
            .collect();
    }
    vec![json!(sized("text")), json!(sized(""))]
}

/// The schema without one of its keywords.
fn without(fields: &Map<String, Value>, keyword: &str) -> Value {
    Value::Object(fields.iter().filter(|(name, _)| *name != keyword).map(|(n, v)| (n.clone(), v.clone())).collect())
}

/// The other keywords beside `keyword`, merged with `target`.
fn beside(fields: &Map<String, Value>, keyword: &str, target: &Value) -> Value {
    merged(&without(fields, keyword), target)
}

/// Merges two schemas: properties and required names are combined, any other keyword of the second replaces that of the
/// first.
fn merged(one: &Value, other: &Value) -> Value {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return other.clone() };
    let mut both = one.clone();
    for (keyword, value) in other {
        let present = both.get(keyword).cloned();
        let value = match (keyword.as_str(), present, value) {
            ("properties", Some(Value::Object(mut properties)), Value::Object(more)) => {
                properties.extend(more.clone());
                Value::Object(properties)
            }
            ("required", Some(Value::Array(mut names)), Value::Array(more)) => {
                names.extend(more.clone());
                Value::Array(names)
            }
            _ => value.clone(),
        };
        both.insert(keyword.clone(), value);
    }
    Value::Object(both)
}

#[cfg(test)]
mod tests;
