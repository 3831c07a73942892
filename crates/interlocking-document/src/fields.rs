//! Taking a tree apart, field by field, so that a wrong one hides no other.

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

    /// The keys that lead to it, joined by dots; items of a list have those of their list. Empty for the outermost.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The same keys with another value, such as what is [left](Fields::rest) of this one.
    pub fn with_node<'n>(&self, node: &'n Node) -> Field<'n> {
        Field { node, path: self.path.clone() }
    }

    /// The value as a `T`; none if it is none, which is filed, at the place within it that is wrong.
    pub fn read<T: DeserializeOwned>(&self, problems: &mut Problems) -> Option<T> {
        typed::read(self.node, &self.path, problems)
    }

    /// The value if it is a text.
    pub fn text(&self, problems: &mut Problems) -> Option<&'d Text> {
        let text = self.node.as_text();
        if text.is_none() {
            self.expected("text", problems);
        }
        text
    }

    /// The items, if it is a list.
    pub fn items(&self, problems: &mut Problems) -> Option<impl Iterator<Item = Field<'d>> + use<'d>> {
        let Value::List(items) = &self.node.value else {
            self.expected("a list", problems);
            return None;
        };
        let path = self.path.clone();
        Some(items.iter().map(move |node| Field { node, path: path.clone() }))
    }

    /// The entries, if it is a table whose keys may be any.
    pub fn entries(&self, problems: &mut Problems) -> Option<impl Iterator<Item = (&'d Key, Field<'d>)> + use<'d>> {
        let Value::Table(entries) = &self.node.value else {
            self.expected("a table", problems);
            return None;
        };
        let path = self.path.clone();
        Some(entries.iter().map(move |(key, node)| (key, Field { node, path: words::joined(&path, &key.name) })))
    }

    /// The fields, if it is a table whose keys are known.
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

    /// The value as JSON; a number that JSON has not is filed.
    #[cfg(feature = "json")]
    pub fn json(&self, problems: &mut Problems) -> Option<serde_json::Value> {
        let json = self.node.to_json();
        json.map_err(|(position, message)| problems.add(position, &self.path, message)).ok()
    }

    /// Files that something is wrong with the value.
    pub fn refuse(&self, message: impl AsRef<str>, problems: &mut Problems) {
        problems.add(self.node.position, &self.path, message);
    }

    /// Files that the value is none such as is `wanted`: `a list`.
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
    /// Which entries have been asked for.
    taken: BTreeSet<usize>,
    /// The names asked for, for the message about one that nobody asked for.
    known: Vec<&'static str>,
    spellings: Spellings,
}

impl<'d> Fields<'d> {
    /// The same where a field is also found by these other spellings of its name.
    #[must_use]
    pub fn with_spellings(self, spellings: impl Fn(&str) -> Vec<String> + 'static) -> Self {
        Self { spellings: Box::new(spellings), ..self }
    }

    /// The value of a field, if it is there and something.
    pub fn take(&mut self, name: &'static str) -> Option<Field<'d>> {
        self.take_any(name).filter(|field| !field.node.is_nothing())
    }

    /// A field that must be there.
    pub fn required<T: DeserializeOwned>(&mut self, name: &'static str, problems: &mut Problems) -> Option<T> {
        self.require(name, problems)?.read(problems)
    }

    /// The value of a field that must be there.
    pub fn require(&mut self, name: &'static str, problems: &mut Problems) -> Option<Field<'d>> {
        let field = self.take_any(name);
        if field.is_none() {
            problems.add(self.position, &self.path, typed::missing(name));
        }
        field
    }

    /// A field with a default; none only if it is there and wrong.
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

    /// Files that something is wrong with the value of a field that was read.
    pub fn refuse(&self, name: &str, message: impl AsRef<str>, problems: &mut Problems) {
        match self.find(name) {
            Some((_, field)) => field.refuse(message, problems),
            None => problems.add(self.position, &words::joined(&self.path, name), message),
        }
    }

    /// A table of what nobody has asked for.
    pub fn rest(&self) -> Node {
        let rest = self.untaken().map(|(_, entry)| entry.clone());
        Node { position: self.position, value: Value::Table(rest.collect()) }
    }

    /// Files a problem for every field that nobody has asked for.
    pub fn finish(self, problems: &mut Problems) {
        for (_, (key, _)) in self.untaken() {
            // What is not shown need not be likened to anything: a hostile file has very many.
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
