//! Ids of nodes, as specifications and agents write them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Who a node of the tree is: words of lower-case letters, digits and dashes, its parents' first, such as `shortener/codec` (CON-146).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub struct NodeId(String);

/// The error for a text that is not a node's id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no id: give words of lower-case letters, digits and dashes, those of the parents first, such as `shortener/codec`"
)]
pub struct NodeIdError {
    /// The text.
    pub text: String,
}

impl NodeId {
    /// The longest word, in bytes.
    pub const LONGEST_WORD: usize = 40;

    /// Checks an id.
    ///
    /// # Errors
    ///
    /// [`NodeIdError`] if it is not an id.
    pub fn new(text: impl Into<String>) -> Result<Self, NodeIdError> {
        let text = text.into();
        let is_plain = |word: &str| {
            let mut bytes = word.bytes();
            word.len() <= Self::LONGEST_WORD
                && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
                && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        if text.split('/').all(is_plain) { Ok(Self(text)) } else { Err(NodeIdError { text }) }
    }

    /// The last word: `codec` of `shortener/codec`.
    pub fn last_word(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Whether this is the id of a child of `parent`.
    pub fn is_child_of(&self, parent: &Self) -> bool {
        self.0.strip_prefix(&parent.0).and_then(|rest| rest.strip_prefix('/')).is_some_and(|word| !word.contains('/'))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for NodeId {
    type Error = NodeIdError;

    fn try_from(text: String) -> Result<Self, NodeIdError> {
        Self::new(text)
    }
}

impl From<NodeId> for String {
    fn from(id: NodeId) -> Self {
        id.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
