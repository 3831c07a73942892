//! Writes a tree as YAML, for files that programs write and people read.

use crate::node::{Key, Node, Plain, Text, TextStyle, Value};
use std::fmt::Write as _;

/// A key longer than this, in bytes, is written after `?`: readers accept a key without `?` only up to 1024 characters.
const LONGEST_KEY: usize = 1000;

/// A list of scalars is written on one line if the line is no longer than this.
const LONGEST_LINE: usize = 100;

impl Node {
    /// The value as YAML that reads as the same value: block style, two columns a level, keys in their order. Ends with a line
    /// break.
    ///
    /// Short lists of scalars are written on one line, and texts of several lines in blocks after `|`. A text is quoted if it
    /// would otherwise read as another value.
    ///
    #[cfg_attr(feature = "json", doc = "```")]
    #[cfg_attr(not(feature = "json"), doc = "```ignore")]
    /// use interlocking_document::{Document, Source};
    ///
    /// let report = r#"{"status": "complete", "files": ["src/a.rs"], "deviations": [], "note": "a: b"}"#;
    /// let document = Document::json(Source::new("report", report)).unwrap();
    /// assert_eq!(document.root().to_yaml(), "\
    /// status: complete
    /// files: [src/a.rs]
    /// deviations: []
    /// note: \"a: b\"
    /// ");
    /// ```
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        match on_one_line(self) {
            Some(line) => {
                out.push_str(&line);
                out.push('\n');
            }
            None => write_block(self, 0, &mut out),
        }
        out
    }
}

/// Writes a value over several lines. The first line begins at `column`, where `out` already ends.
fn write_block(node: &Node, column: usize, out: &mut String) {
    let indent = " ".repeat(column);
    match &node.value {
        Value::Table(entries) => {
            for (index, (Key { name, .. }, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(&indent);
                }
                let key = scalar(&Text::quoted(name.as_str()));
                if key.len() > LONGEST_KEY {
                    _ = write!(out, "? {key}\n{indent}:");
                } else {
                    _ = write!(out, "{key}:");
                }
                match (on_one_line(value), literal(value)) {
                    (_, Some(text)) => write_literal(text, &format!("{indent}  "), out),
                    (Some(line), None) => _ = writeln!(out, " {line}"),
                    (None, None) => {
                        _ = write!(out, "\n{indent}  ");
                        write_block(value, column + 2, out);
                    }
                }
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(&indent);
                }
                out.push('-');
                match (on_one_line(item), literal(item)) {
                    (_, Some(text)) => write_literal(text, &format!("{indent}  "), out),
                    (Some(line), None) => _ = writeln!(out, " {line}"),
                    (None, None) => {
                        out.push(' ');
                        write_block(item, column + 2, out);
                    }
                }
            }
        }
        _ => out.push_str(&on_one_line(node).unwrap_or_default()),
    }
}

/// The text, if it has several lines and can be written as a block: no line is empty, begins with a space or needs escapes.
fn literal(node: &Node) -> Option<&str> {
    let Value::Text(Text { content, .. }) = &node.value else { return None };
    let lines = content.strip_suffix('\n').unwrap_or(content);
    let can_stand = |line: &str| {
        let is_shown = |character: char| !character.is_control() && !is_escaped(character);
        line.chars().all(is_shown) && !line.is_empty() && !line.starts_with(' ')
    };
    (lines.contains('\n') && lines.split('\n').all(can_stand)).then_some(content)
}

fn write_literal(text: &str, indent: &str, out: &mut String) {
    out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in text.lines() {
        _ = writeln!(out, "{indent}{line}");
    }
}

/// The value on one line, if it is a scalar, empty, or a short list of scalars.
fn on_one_line(node: &Node) -> Option<String> {
    Some(match &node.value {
        Value::Table(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Table(_) => return None,
        Value::List(items) => {
            let is_scalar = |item: &&Node| !matches!(item.value, Value::List(_) | Value::Table(_));
            let scalars: Vec<_> = items.iter().take_while(is_scalar).filter_map(on_one_line).collect();
            let line = format!("[{}]", scalars.join(", "));
            if scalars.len() < items.len()
                || line.len() > LONGEST_LINE
                || items.iter().any(|item| literal(item).is_some())
            {
                return None;
            }
            line
        }
        Value::Text(text) => scalar(text),
        Value::Nothing => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => ".nan".to_owned(),
        Value::Float(number) if number.is_infinite() => if *number > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        Value::Float(number) => format!("{number:?}"),
    })
}

fn scalar(text: &Text) -> String {
    let content = &*text.content;
    match text.plain() {
        Plain::Nothing => "null".to_owned(),
        Plain::Text(_) => {
            let plain = Text { content: content.to_owned(), style: TextStyle::Plain };
            let is_itself = matches!(plain.plain(), Plain::Text(_)) && can_be_plain(content);
            if is_itself { content.to_owned() } else { quoted(content) }
        }
        // A scalar that was written without quotes and reads as a number or a boolean is written the same way.
        _ => content.to_owned(),
    }
}

/// Whether the text can be written without quotes anywhere, also in a list on one line. Stricter than YAML.
fn can_be_plain(content: &str) -> bool {
    let begins = |first: char| first.is_alphanumeric() || matches!(first, '/' | '_' | '.' | '+');
    let goes_on = |other: char| other.is_alphanumeric() || " /_.+-=@();'".contains(other);
    let after_dashes = content.trim_start_matches('-');
    let has_dashes = after_dashes.len() < content.len() && after_dashes.starts_with(char::is_alphanumeric);
    (content.starts_with(begins) || has_dashes)
        && content.chars().all(goes_on)
        && !content.ends_with(' ')
        && !content.starts_with("...")
        && !content.contains("  ")
}

fn quoted(content: &str) -> String {
    let mut out = String::from("\"");
    for character in content.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            other if other.is_control() || is_escaped(other) => _ = write!(out, "\\U{:08x}", u32::from(other)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Whether a character must be escaped: Unicode's line ends, the byte order mark, and noncharacters.
fn is_escaped(character: char) -> bool {
    matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}') || u32::from(character) & 0xfffe == 0xfffe
}
