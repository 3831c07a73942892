//! Names that contain neither code nor prose.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A Rust identifier or a path of them (`push`, `BoundedStack::push`), at most 128 bytes.
///
/// What crosses the barrier between the blind agents is made of these, so that no code and no prose can
/// cross with it (HY-101).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Identifier(String);

/// The text is not a path of Rust identifiers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a name: use a Rust identifier or identifiers joined by `::`, at most {LONGEST} bytes")]
pub struct NotAnIdentifier {
    /// The refused text, shortened.
    pub text: String,
}

const LONGEST: usize = 128;

impl Identifier {
    /// Checks that the text is a path of Rust identifiers.
    pub fn new(text: impl Into<String>) -> Result<Self, NotAnIdentifier> {
        let text = text.into();
        if text.len() <= LONGEST && text.split("::").all(is_identifier) {
            Ok(Self(text))
        } else {
            Err(NotAnIdentifier { text: text.chars().take(LONGEST).collect() })
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the text is one Rust identifier, keywords left out.
pub(crate) fn is_identifier(text: &str) -> bool {
    interlocking::rust_source::is_identifier(text)
}

impl TryFrom<String> for Identifier {
    type Error = NotAnIdentifier;

    fn try_from(text: String) -> Result<Self, NotAnIdentifier> {
        Self::new(text)
    }
}

impl From<Identifier> for String {
    fn from(identifier: Identifier) -> Self {
        identifier.0
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
