//! Paths of files in the repository, as plans and reports name them.

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
