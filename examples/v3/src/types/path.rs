//! Paths and ids, as specifications and agents write them.

use interlocking::worktree::{PathError, RepositoryPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A file's path, relative to the root of the repository, such as `src/lib.rs`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub struct FilePath(String);

impl FilePath {
    /// A path.
    ///
    /// # Errors
    ///
    /// [`PathError`] where it leads out of the repository, or into git's own files.
    pub fn new(path: impl Into<String>) -> Result<Self, PathError> {
        let path = path.into();
        RepositoryPath::new(&path)?;
        Ok(Self(path))
    }

    /// As git knows it.
    ///
    /// # Errors
    ///
    /// [`PathError`]: never, as it was one when this was made.
    pub fn in_repository(&self) -> Result<RepositoryPath, PathError> {
        RepositoryPath::new(&self.0)
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file's name without its ending: `codec` of `tests/codec.rs`.
    pub fn stem(&self) -> &str {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    /// Whether the file is Rust source.
    pub fn is_rust(&self) -> bool {
        self.0.ends_with(".rs")
    }
}

impl TryFrom<String> for FilePath {
    type Error = PathError;

    fn try_from(path: String) -> Result<Self, PathError> {
        Self::new(path)
    }
}

impl From<FilePath> for String {
    fn from(path: FilePath) -> Self {
        path.0
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who a node of the tree is: words of lower-case letters, digits and dashes, its parents' first, such as `shortener/codec` (CON-146).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub struct NodeId(String);

/// A text is no node's id.
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

    /// An id.
    ///
    /// # Errors
    ///
    /// [`NodeIdError`] where it is none.
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
