//! Commit messages with trailers: `Token: value` lines that programs read.

use std::fmt;

use crate::commits::commit::{MessageError, normalize_message};

/// A message for a commit, with trailers at its end. [`crate::CommitRecord::trailers`] reads them back.
///
/// ```
/// use interlocking_worktree::Message;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let message = Message::new("tests: one property")?.trailer("Session", "r1")?.trailer("Node", "hTests")?;
/// assert_eq!(message.to_string(), "tests: one property\n\nSession: r1\nNode: hTests\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(String);

/// A trailer is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrailerError {
    /// The token is not letters, digits and hyphens.
    #[error("{token:?} cannot be a trailer's name: use letters, digits and hyphens")]
    Token {
        /// The token as given.
        token: String,
    },
    /// The value is empty, or has a line break, which could begin another trailer.
    #[error("{value:?} cannot be the value of the trailer {token}: give one line of text")]
    Value {
        /// The token.
        token: String,
        /// The value as given.
        value: String,
    },
}

impl Message {
    /// Makes a message of a text, which may be only a subject or have trailers already. Blank lines before it and blank
    /// space after it are removed.
    pub fn new(text: &str) -> Result<Self, MessageError> {
        normalize_message(text).map(Self)
    }

    /// Adds a trailer below the existing ones.
    ///
    /// # Errors
    ///
    /// [`TrailerError`]: a value from an agent cannot forge a second trailer.
    pub fn trailer(self, token: &str, value: &str) -> Result<Self, TrailerError> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if token.is_empty() || token.starts_with('-') || !token.bytes().all(is_token) {
            return Err(TrailerError::Token { token: token.to_owned() });
        }
        let trimmed = value.trim();
        // All characters that some program takes for a line break.
        let breaks = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
        if trimmed.is_empty() || trimmed.contains(breaks) {
            return Err(TrailerError::Value { token: token.to_owned(), value: value.to_owned() });
        }
        let mut text = self.0;
        if !ends_in_trailers(&text) {
            text.push('\n');
        }
        text += &format!("{token}: {trimmed}\n");
        Ok(Self(text))
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the last paragraph consists of trailers. The first paragraph is the subject, and never does.
fn ends_in_trailers(text: &str) -> bool {
    let message = gix::objs::commit::MessageRef::from_bytes(text.as_bytes());
    message.body().is_some_and(|body| body.trailers().next().is_some())
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for Message {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_one_line() {
        let message = || Message::new("subject").unwrap();
        for token in ["", "-a", "Two Words", "a:b", "ä"] {
            assert_eq!(message().trailer(token, "x"), Err(TrailerError::Token { token: token.to_owned() }));
        }
        for value in ["", " ", "a\nSigned-off-by: Eve", "a\u{2028}b", "a\0"] {
            assert!(matches!(message().trailer("Session", value), Err(TrailerError::Value { .. })), "{value:?}");
        }
    }
}
