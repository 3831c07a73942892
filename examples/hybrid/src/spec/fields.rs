//! Taking fields out of a table one by one, so that a wrong one hides no other.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::document::Document;
use super::problem::Found;

/// A table from which fields are taken.
pub(super) struct Fields<'d> {
    document: &'d Document,
    table: Map<String, Value>,
    /// What leads here: empty, or `strictness.`.
    path: String,
    /// The prefix that the protocol's original names bear in this table.
    prefix: &'static str,
    /// The names asked for, for the message about one nobody asked for.
    known: Vec<&'static str>,
}

impl<'d> Fields<'d> {
    /// The file's outermost table.
    pub(super) fn root(document: &'d Document, prefix: &'static str) -> Self {
        Self { document, table: document.table.clone(), path: String::new(), prefix, known: Vec::new() }
    }

    /// A field that must be there.
    pub(super) fn required<T: DeserializeOwned>(&mut self, name: &'static str, found: &mut Vec<Found>) -> Option<T> {
        match self.take(name) {
            Some((key, value)) => self.convert(&key, value, found),
            None => {
                let message = "missing; add it".to_owned();
                found.push(Found { offset: None, field: Some(format!("{}{name}", self.path)), message });
                None
            }
        }
    }

    /// A field with a default; `None` only if it is there and wrong.
    pub(super) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        default: T,
        found: &mut Vec<Found>,
    ) -> Option<T> {
        match self.take(name) {
            Some((key, value)) => self.convert(&key, value, found),
            None => Some(default),
        }
    }

    /// Takes a field as it stands: what it is called here, and its value.
    pub(super) fn take(&mut self, name: &'static str) -> Option<(String, Value)> {
        self.known.push(name);
        spellings(name, self.prefix).into_iter().find_map(|spelling| {
            let value = self.table.remove(&spelling)?;
            Some((spelling, value))
        })
    }

    /// A table inside this one; the key as it is spelt here.
    pub(super) fn inner(&self, key: &str, table: Map<String, Value>, prefix: &'static str) -> Self {
        let path = format!("{}{key}.", self.path);
        Self { document: self.document, table, path, prefix, known: Vec::new() }
    }

    /// Files a problem with a field, however it is spelt here.
    pub(super) fn refuse(&self, name: &str, message: String, found: &mut Vec<Found>) {
        let spelt = spellings(name, self.prefix).into_iter().find_map(|spelling| {
            let path = format!("{}{spelling}", self.path);
            Some((*self.document.offsets.get(&path)?, path))
        });
        let (offset, field) = match spelt {
            Some((offset, path)) => (Some(offset), path),
            None => (None, format!("{}{name}", self.path)),
        };
        found.push(Found { offset, field: Some(field), message });
    }

    /// Files a problem for every field that nobody asked for.
    pub(super) fn finish(self, found: &mut Vec<Found>) {
        for key in self.table.keys() {
            let message = format!("not a field here; the fields are {}", self.known.join(", "));
            self.refuse(key, message, found);
        }
    }

    fn convert<T: DeserializeOwned>(&self, key: &str, value: Value, found: &mut Vec<Found>) -> Option<T> {
        match serde_json::from_value(value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.refuse(key, error.to_string(), found);
                None
            }
        }
    }
}

/// How a field may be spelt: `implPath`, `impl_path`, `specImplPath`.
fn spellings(name: &str, prefix: &str) -> Vec<String> {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    let mut spellings = vec![name.to_owned(), snake];
    if let (false, Some(first)) = (prefix.is_empty(), name.get(..1)) {
        spellings.push(format!("{prefix}{}{}", first.to_ascii_uppercase(), &name[1..]));
    }
    spellings
}
