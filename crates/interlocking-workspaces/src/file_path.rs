//! Paths of files in specifications, plans and outputs of agents: text that is checked when it is read.

use interlocking_worktree::{PathError, RepositoryPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A file's path, relative to the root of the repository, such as `src/lib.rs`: a [`RepositoryPath`] that is text, and data. One that leads
/// out of the repository or into git's own files, or that would be read as another, is refused when it is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub struct FilePath {
    text: String,
    path: RepositoryPath,
}

impl FilePath {
    /// Checks a path.
    ///
    /// # Errors
    ///
    /// [`PathError`] if it is not a [`RepositoryPath`].
    pub fn new(path: impl Into<String>) -> Result<Self, PathError> {
        let text = path.into();
        let path = RepositoryPath::new(&text)?;
        Ok(Self { text, path })
    }

    /// The path as git has it.
    pub fn in_repository(&self) -> &RepositoryPath {
        &self.path
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The file's name up to its first dot: `codec` of `tests/codec.rs` and of `tests/codec.test.rs`.
    pub fn stem(&self) -> &str {
        let name = self.text.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    /// Whether the file is Rust source.
    pub fn is_rust(&self) -> bool {
        self.text.ends_with(".rs")
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
        path.text
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_checked_when_it_is_read() {
        let path: FilePath = serde_json::from_str("\"tests/codec.test.rs\"").unwrap();
        assert_eq!((path.as_str(), path.stem(), path.is_rust()), ("tests/codec.test.rs", "codec", true));
        assert_eq!(serde_json::to_string(&path).unwrap(), "\"tests/codec.test.rs\"");
        assert_eq!(path.in_repository(), &"tests/codec.test.rs");
        for wrong in ["../codec.rs", ".git/hooks/pre-commit", "/etc/passwd", ""] {
            let error = serde_json::from_value::<FilePath>(wrong.into()).unwrap_err().to_string();
            assert!(error.contains("is not a path inside the repository"), "{error}");
        }
    }
}
