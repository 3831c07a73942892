//! The tree of a document, the same for every language.

use std::fmt;

use crate::place::Position;
use crate::words::quoted;

/// A value, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value begins; a TOML table under a header begins at the header.
    pub position: Position,
    /// The value.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// JSON's `null`.
    Nothing,
    /// A boolean of TOML or JSON.
    Bool(bool),
    /// A whole number of TOML or JSON.
    Integer(i128),
    /// Another number of TOML or JSON.
    Float(f64),
    /// A text, a date of TOML, or any scalar of YAML.
    Text(Text),
    /// A list.
    List(Vec<Node>),
    /// A table: a mapping of YAML, an object of JSON. In the order of the file, each key once.
    Table(Vec<(Key, Node)>),
}

/// A text, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text itself, without quotes and indentation.
    pub content: String,
    /// How the text is written.
    pub style: TextStyle,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    /// Without quotes, in YAML. It is converted to a number, a boolean or null only if the reader asks for that type. So `6.10`
    /// stays `6.10`, and a commit id that consists of digits stays a commit id.
    Plain,
    /// In quotes, or folded.
    Quoted,
    /// As a block after `|`, in YAML: each line of the text is a line of the file.
    Block,
}

/// The key of an entry, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key without quotes.
    pub name: String,
    /// Where the key begins.
    pub position: Position,
}

impl Node {
    /// Whether the value is `null`, or in YAML also `~` or empty.
    pub fn is_nothing(&self) -> bool {
        match &self.value {
            Value::Nothing => true,
            Value::Text(text) => text.is_nothing(),
            _ => false,
        }
    }

    /// The text; `None` if the value is not a text, or is [nothing](Self::is_nothing).
    pub fn as_text(&self) -> Option<&Text> {
        match &self.value {
            Value::Text(text) if !text.is_nothing() => Some(text),
            _ => None,
        }
    }

    /// The value as JSON. A scalar of YAML without quotes becomes a number, a boolean or null if it looks like one.
    ///
    /// # Errors
    ///
    /// The position and the message for a number that JSON cannot represent: infinity, NaN, or a whole number of more than 64
    /// bits.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> Result<serde_json::Value, (Position, String)> {
        use serde_json::Value as Json;
        let absent = |number: &dyn fmt::Display| (self.position, format!("{number} is not a number in JSON"));
        Ok(match self.plain() {
            Plain::Nothing => Json::Null,
            Plain::Bool(truth) => Json::Bool(truth),
            Plain::Integer(number) => {
                let small = i64::try_from(number).map(Json::from);
                small.or_else(|_| u64::try_from(number).map(Json::from)).map_err(|_| absent(&number))?
            }
            Plain::Float(number) => {
                serde_json::Number::from_f64(number).map(Json::Number).ok_or_else(|| absent(&number))?
            }
            Plain::Text(text) => Json::String(text.to_owned()),
            Plain::List(items) => Json::Array(items.iter().map(Self::to_json).collect::<Result<_, _>>()?),
            Plain::Table(entries) => {
                let entries = entries.iter().map(|(key, value)| Ok((key.name.clone(), value.to_json()?)));
                Json::Object(entries.collect::<Result<_, _>>()?)
            }
        })
    }

    /// The value with a scalar of YAML converted to the type that it looks like, for readers that ask for no type.
    pub(crate) fn plain(&self) -> Plain<'_> {
        match &self.value {
            Value::Nothing => Plain::Nothing,
            Value::Bool(truth) => Plain::Bool(*truth),
            Value::Integer(number) => Plain::Integer(*number),
            Value::Float(number) => Plain::Float(*number),
            Value::List(items) => Plain::List(items),
            Value::Table(entries) => Plain::Table(entries),
            Value::Text(text) => text.plain(),
        }
    }
}

/// A value, regardless of how it is written.
pub(crate) enum Plain<'n> {
    Nothing,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(&'n str),
    List(&'n [Node]),
    Table(&'n [(Key, Node)]),
}

impl Text {
    /// A text in quotes.
    pub fn quoted(content: impl Into<String>) -> Self {
        Self { content: content.into(), style: TextStyle::Quoted }
    }

    fn is_nothing(&self) -> bool {
        self.style == TextStyle::Plain && matches!(&*self.content, "" | "~" | "null" | "Null" | "NULL")
    }

    /// The value of a scalar by YAML's core schema.
    pub(crate) fn plain(&self) -> Plain<'_> {
        let content = &*self.content;
        if self.style != TextStyle::Plain {
            return Plain::Text(content);
        }
        match content {
            _ if self.is_nothing() => Plain::Nothing,
            "true" | "True" | "TRUE" => Plain::Bool(true),
            "false" | "False" | "FALSE" => Plain::Bool(false),
            _ => match (integer(content), float(content)) {
                (Some(number), _) => Plain::Integer(number),
                (None, Some(number)) => Plain::Float(number),
                (None, None) => Plain::Text(content),
            },
        }
    }
}

fn integer(text: &str) -> Option<i128> {
    let digits = |digits: &str, radix| {
        let is_plain = digits.starts_with(|first: char| first.is_ascii_hexdigit());
        is_plain.then(|| i128::from_str_radix(digits, radix).ok()).flatten()
    };
    match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(rest), _) => digits(rest, 16),
        (None, Some(rest)) => digits(rest, 8),
        (None, None) => match text.strip_prefix('-') {
            Some(rest) => digits(rest, 10).map(|number| -number),
            None => digits(text.strip_prefix('+').unwrap_or(text), 10),
        },
    }
}

fn float(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | "+.inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        // Rust also parses `inf` and `nan`, which are words in YAML.
        _ if text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) => text
            .bytes()
            .all(|byte| !byte.is_ascii_alphabetic() || byte.eq_ignore_ascii_case(&b'e'))
            .then(|| text.parse().ok())?,
        _ => None,
    }
}

/// How messages call the value: `a list`, `"yes"`.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            _ if self.is_nothing() => f.write_str("nothing"),
            Value::Nothing => f.write_str("nothing"),
            Value::Bool(truth) => write!(f, "`{truth}`"),
            Value::Integer(number) => write!(f, "`{number}`"),
            Value::Float(number) => write!(f, "`{number}`"),
            Value::Text(text) => f.write_str(&quoted(&text.content)),
            Value::List(_) => f.write_str("a list"),
            Value::Table(_) => f.write_str("a table"),
        }
    }
}
