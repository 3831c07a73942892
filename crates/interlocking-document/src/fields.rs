//! Reads a tree field by field, so that a wrong field hides no other.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use crate::node::{Key, Node, Text, Value};
use crate::place::Position;
use crate::problems::{Problems, SHOWN};
use crate::typed;
use crate::words;

/// A value, and the keys that lead to it.
#[derive(Clone, Debug)]
pub struct Field<'d> {
    node: &'d Node,
    path: String,
}

impl<'d> Field<'d> {
    /// The outermost value of a document.
    pub fn of(node: &'d Node) -> Self {
        Self { node, path: String::new() }
    }

    /// The value.
    pub fn node(&self) -> &'d Node {
        self.node
    }

    /// Where the value begins.
    pub fn position(&self) -> Position {
        self.node.position
    }

    /// The keys that lead to the value, joined by dots. An item of a list has the path of its list. Empty for the outermost
    /// value.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Another value under the same keys, such as the [rest](Fields::rest) of this one.
    pub fn with_node<'n>(&self, node: &'n Node) -> Field<'n> {
        Field { node, path: self.path.clone() }
    }

    /// Reads the value as a `T`. If it is not a `T`, adds a problem at the wrong place inside it and returns `None`.
    pub fn read<T: DeserializeOwned>(&self, problems: &mut Problems) -> Option<T> {
        typed::read(self.node, &self.path, problems)
    }

    /// The value, if it is a text; otherwise adds a problem.
    pub fn text(&self, problems: &mut Problems) -> Option<&'d Text> {
        let text = self.node.as_text();
        if text.is_none() {
            self.expected("text", problems);
        }
        text
    }

    /// The items, if the value is a list; otherwise adds a problem.
    pub fn items(&self, problems: &mut Problems) -> Option<impl Iterator<Item = Field<'d>> + use<'d>> {
        let Value::List(items) = &self.node.value else {
            self.expected("a list", problems);
            return None;
        };
        let path = self.path.clone();
        Some(items.iter().map(move |node| Field { node, path: path.clone() }))
    }

    /// The entries, if the value is a table; otherwise adds a problem. For tables with arbitrary keys.
    pub fn entries(&self, problems: &mut Problems) -> Option<impl Iterator<Item = (&'d Key, Field<'d>)> + use<'d>> {
        let Value::Table(entries) = &self.node.value else {
            self.expected("a table", problems);
            return None;
        };
        let path = self.path.clone();
        Some(entries.iter().map(move |(key, node)| (key, Field { node, path: words::joined(&path, &key.name) })))
    }

    /// The fields, if the value is a table; otherwise adds a problem. For tables with known keys.
    pub fn fields(&self, problems: &mut Problems) -> Option<Fields<'d>> {
        let Value::Table(entries) = &self.node.value else {
            self.expected("a table", problems);
            return None;
        };
        Some(Fields {
            position: self.node.position,
            path: self.path.clone(),
            entries,
            taken: BTreeSet::new(),
            known: Vec::new(),
            spellings: Box::new(|_| Vec::new()),
        })
    }

    /// The value as JSON. Adds a problem for a number that JSON cannot represent.
    #[cfg(feature = "json")]
    pub fn json(&self, problems: &mut Problems) -> Option<serde_json::Value> {
        let json = self.node.to_json();
        json.map_err(|(position, message)| problems.add(position, &self.path, message)).ok()
    }

    /// Adds a problem with the value.
    pub fn refuse(&self, message: impl AsRef<str>, problems: &mut Problems) {
        problems.add(self.node.position, &self.path, message);
    }

    /// Adds the problem that the value is not what is `wanted`, such as `a list`.
    pub fn expected(&self, wanted: &str, problems: &mut Problems) {
        self.refuse(format!("expected {wanted}, found {}", self.node), problems);
    }
}

/// The other spellings of a name.
type Spellings = Box<dyn Fn(&str) -> Vec<String>>;

/// A table from which fields are taken one by one.
pub struct Fields<'d> {
    position: Position,
    path: String,
    entries: &'d [(Key, Node)],
    /// The indices of the entries that have been taken.
    taken: BTreeSet<usize>,
    /// The names of fields that were asked for, for messages about unknown fields.
    known: Vec<&'static str>,
    spellings: Spellings,
}

impl<'d> Fields<'d> {
    /// Sets a function that returns other spellings of a field's name, by which the field is also found.
    #[must_use]
    pub fn with_spellings(self, spellings: impl Fn(&str) -> Vec<String> + 'static) -> Self {
        Self { spellings: Box::new(spellings), ..self }
    }

    /// The value of a field, if the field is there and is not [nothing](Node::is_nothing).
    pub fn take(&mut self, name: &'static str) -> Option<Field<'d>> {
        self.take_any(name).filter(|field| !field.node.is_nothing())
    }

    /// Reads a field that must be there.
    pub fn required<T: DeserializeOwned>(&mut self, name: &'static str, problems: &mut Problems) -> Option<T> {
        self.require(name, problems)?.read(problems)
    }

    /// The value of a field that must be there. If it is missing, adds a problem and returns `None`.
    pub fn require(&mut self, name: &'static str, problems: &mut Problems) -> Option<Field<'d>> {
        let field = self.take_any(name);
        if field.is_none() {
            problems.add(self.position, &self.path, typed::missing(name));
        }
        field
    }

    /// Reads a field with a default. `None` only if the field is there and wrong.
    pub fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        default: T,
        problems: &mut Problems,
    ) -> Option<T> {
        match self.take(name) {
            Some(field) => field.read(problems),
            None => Some(default),
        }
    }

    /// Adds a problem with the value of a field that was read.
    pub fn refuse(&self, name: &str, message: impl AsRef<str>, problems: &mut Problems) {
        match self.find(name) {
            Some((_, field)) => field.refuse(message, problems),
            None => problems.add(self.position, &words::joined(&self.path, name), message),
        }
    }

    /// A table of the entries that were not taken.
    pub fn rest(&self) -> Node {
        let rest = self.untaken().map(|(_, entry)| entry.clone());
        Node { position: self.position, value: Value::Table(rest.collect()) }
    }

    /// Adds a problem for every entry that was not taken.
    pub fn finish(self, problems: &mut Problems) {
        for (_, (key, _)) in self.untaken() {
            // Problems that are not shown need no suggestion: a hostile file can have very many unknown fields.
            let known = if problems.len() < SHOWN { &self.known[..] } else { &[] };
            problems.add(key.position, &words::joined(&self.path, &key.name), words::unknown(&key.name, known));
        }
    }

    fn take_any(&mut self, name: &'static str) -> Option<Field<'d>> {
        self.known.push(name);
        let (index, field) = self.find(name)?;
        self.taken.insert(index);
        Some(field)
    }

    fn find(&self, name: &str) -> Option<(usize, Field<'d>)> {
        let spellings = (self.spellings)(name);
        let is_meant = |key: &str| key == name || spellings.iter().any(|spelling| spelling == key);
        let index = self.entries.iter().position(|(key, _)| is_meant(&key.name))?;
        let (key, node) = &self.entries[index];
        Some((index, Field { node, path: words::joined(&self.path, &key.name) }))
    }

    fn untaken(&self) -> impl Iterator<Item = (usize, &'d (Key, Node))> {
        self.entries.iter().enumerate().filter(|(index, _)| !self.taken.contains(index))
    }
}
