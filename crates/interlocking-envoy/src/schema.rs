//! Inputs and outputs of protocols.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An input that is given to the agent that follows the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The input's name.
    pub name: String,
    /// The input's type.
    #[serde(rename = "type")]
    pub kind: InputType,
    /// Whether the input may be omitted.
    #[serde(default)]
    pub optional: bool,
    /// The meaning of the input.
    #[serde(default)]
    pub description: String,
}

/// The type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputType {
    /// A whole number.
    Integer,
    /// A text.
    String,
    /// A list: the embedded protocol `discovery` takes one.
    Array,
}

/// What a protocol may return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The returned value, such as `{ success: true, merged: true }`.
    pub value: String,
    /// When the value is returned.
    #[serde(default)]
    pub description: String,
}

impl InputType {
    /// All types.
    pub const ALL: [Self; 3] = [Self::Integer, Self::String, Self::Array];

    /// The type's name in a file.
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
