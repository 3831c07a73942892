//! JSON as a tree.
//!
//! `serde_json` decides what is JSON, but keeps no positions. So a text that it accepts is walked a second time.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::lines::Lines;
use crate::node::{Key, Node, Text, Value};
use crate::problems::Problems;
use crate::source::Source;
use crate::words;

/// The tree of a text, and the problems of its duplicate keys.
pub(crate) fn parse(source: &Source<'_>) -> Result<(Node, Problems), Problems> {
    let text = source.text()?;
    let lines = Lines::of(text);
    let mut problems = Problems::of(source.file);
    if let Err(error) = serde_json::from_str::<Json>(text) {
        let position = source.in_file(lines.position(lines.offset(error.line(), error.column())));
        let told = error.to_string();
        let words = told.rsplit_once(" at line ").map_or(&*told, |(words, _)| words);
        let is_deep = words.contains("recursion limit");
        problems.add(position, "", if is_deep { source.too_deep() } else { format!("this is not JSON: {words}") });
        return Err(problems);
    }
    let mut walk = Walk { source, text, lines, at: 0, problems };
    match walk.node(1) {
        Some(root) => Ok((root, walk.problems)),
        None => Err(walk.problems),
    }
}

/// A walk through a text that is JSON.
struct Walk<'s, 't> {
    source: &'s Source<'t>,
    text: &'t str,
    lines: Lines<'t>,
    at: usize,
    problems: Problems,
}

impl<'t> Walk<'_, 't> {
    /// The next value. If it is nested too deep, adds a problem and returns `None`.
    fn node(&mut self, depth: usize) -> Option<Node> {
        let first = self.skip_blanks();
        let position = self.position(self.at);
        if matches!(first, b'{' | b'[') && depth > self.source.limits.depth {
            self.problems.add(position, "", self.source.too_deep());
            return None;
        }
        let value = match first {
            b'{' => Value::Table(self.table(depth)?),
            b'[' => Value::List(self.list(depth)?),
            b'"' => Value::Text(Text::quoted(self.string())),
            _ => scalar(self.word()),
        };
        Some(Node { position, value })
    }

    fn list(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        while !self.is_closed(b']') {
            items.push(self.node(depth + 1)?);
        }
        Some(items)
    }

    fn table(&mut self, depth: usize) -> Option<Vec<(Key, Node)>> {
        let mut entries = Vec::new();
        let mut lines = BTreeMap::new();
        while !self.is_closed(b'}') {
            let key = Key { position: self.position(self.at), name: self.string() };
            // Skips the colon.
            self.skip_blanks();
            self.at += 1;
            let value = self.node(depth + 1)?;
            match lines.get(&key.name) {
                Some(first) => self.problems.add(key.position, "", words::twice(&key.name, *first)),
                None => {
                    lines.insert(key.name.clone(), key.position.line);
                    entries.push((key, value));
                }
            }
        }
        Some(entries)
    }

    /// Moves to the next item, or past the closing bracket `end`; whether that was reached.
    fn is_closed(&mut self, end: u8) -> bool {
        // Skips the opening bracket, or the comma before the item.
        if matches!(self.skip_blanks(), b'{' | b'[' | b',') {
            self.at += 1;
        }
        let is_closed = self.skip_blanks() == end;
        self.at += usize::from(is_closed);
        is_closed
    }

    fn string(&mut self) -> String {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while bytes[self.at] != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).unwrap_or_default()
    }

    fn word(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || "+-.".contains(letter)));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Skips blanks and returns the next byte.
    fn skip_blanks(&mut self) -> u8 {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| !blank(byte)).unwrap_or(rest.len());
        self.text.as_bytes().get(self.at).copied().unwrap_or_default()
    }

    fn position(&self, offset: usize) -> crate::place::Position {
        self.source.in_file(self.lines.position(offset))
    }
}

fn scalar(word: &str) -> Value {
    match word {
        "null" => Value::Nothing,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        number => match number.parse() {
            Ok(whole) => Value::Integer(whole),
            Err(_) => Value::Float(number.parse().unwrap_or(f64::NAN)),
        },
    }
}
