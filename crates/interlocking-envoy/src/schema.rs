//! What a protocol takes and returns.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that whoever follows the protocol is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: InputType,
    /// Whether it may be left out.
    #[serde(default)]
    pub optional: bool,
    /// What it means.
    #[serde(default)]
    pub description: String,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputType {
    /// A whole number.
    Integer,
    /// A text.
    String,
    /// A list: the shipped `discovery` takes one.
    Array,
}

/// What a protocol may return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// What is returned, such as `{ success: true, merged: true }`.
    pub value: String,
    /// When it is returned.
    #[serde(default)]
    pub description: String,
}

impl InputType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Integer, Self::String, Self::Array];

    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::String => "string",
            Self::Array => "array",
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let need = if self.optional { "optional" } else { "required" };
        write!(f, "{} ({}, {need})", self.name, self.kind.name())?;
        described(f, &self.description)
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.value)?;
        described(f, &self.description)
    }
}

fn described(f: &mut fmt::Formatter<'_>, description: &str) -> fmt::Result {
    if description.is_empty() { Ok(()) } else { write!(f, ": {description}") }
}
