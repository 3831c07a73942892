//! A well-formed file as one tree of values, whichever language it is written in, and where its keys stand.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::problem::Found;

/// A file that is well-formed.
#[derive(Debug)]
pub(super) struct Document {
    /// What it says.
    pub(super) table: Map<String, Value>,
    /// Where each key stands, in bytes, by its path: `strictness.maxFixAttempts`.
    pub(super) offsets: BTreeMap<String, usize>,
}

impl Document {
    /// Reads TOML; every mistake in its syntax at once.
    pub(super) fn toml(text: &str) -> Result<Self, Vec<Found>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        let found = |message: &str, offset| Found { offset, field: None, message: message.to_owned() };
        if !errors.is_empty() {
            let problem = |error: toml::de::Error| {
                found(&format!("not TOML: {}", error.message()), error.span().map(|span| span.start))
            };
            return Err(errors.into_iter().map(problem).collect());
        }
        let mut offsets = BTreeMap::new();
        toml_offsets(table.get_ref(), "", &mut offsets);
        match toml::from_str::<Map<String, Value>>(text) {
            Ok(table) => Ok(Self { table, offsets }),
            Err(error) => Err(vec![found(error.message(), error.span().map(|span| span.start))]),
        }
    }

    /// Reads JSON.
    pub(super) fn json(text: &str) -> Result<Self, Vec<Found>> {
        match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(table) => Ok(Self { table, offsets: json_offsets(text) }),
            Err(error) => {
                let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
                let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
                let message = format!("not a JSON object: {error}");
                Err(vec![Found { offset: Some(offset), field: None, message }])
            }
        }
    }
}

fn toml_offsets(table: &DeTable<'_>, prefix: &str, offsets: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let path = format!("{prefix}{}", key.get_ref());
        offsets.insert(path.clone(), key.span().start);
        if let DeValue::Table(inner) = value.get_ref() {
            toml_offsets(inner, &format!("{path}."), offsets);
        }
    }
}

/// Where the keys of a well-formed JSON text stand. Serde's JSON keeps no places, so this walks the text once
/// more, telling strings that are keys from strings that are not.
fn json_offsets(text: &str) -> BTreeMap<String, usize> {
    let bytes = text.as_bytes();
    let mut offsets = BTreeMap::new();
    // The keys that lead to where we are; `None` for an array.
    let mut path: Vec<Option<String>> = Vec::new();
    let mut key: Option<String> = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => path.push(key.take()),
            b'[' => path.push(None),
            b'}' | b']' => {
                path.pop();
            }
            b'"' => {
                let start = at;
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let is_key = text[at + 1..].trim_start().starts_with(':');
                if is_key && let Ok(name) = serde_json::from_str::<String>(&text[start..=at]) {
                    let mut parts: Vec<&str> = path.iter().flatten().map(String::as_str).collect();
                    parts.push(&name);
                    offsets.entry(parts.join(".")).or_insert(start);
                    key = Some(name);
                } else {
                    key = None;
                }
            }
            _ => {}
        }
        at += 1;
    }
    offsets
}
