//! Paths that stay inside the crate.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file's path relative to the crate, with `/` between its parts and nothing that leads elsewhere: no root,
/// no `.` or `..`, and nothing of git's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CratePath(String);

/// The text does not name a file inside the crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a file inside the crate: {reason}; write it relative to the crate, such as `src/lib.rs`")]
pub struct NotInsideTheCrate {
    /// The refused text.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl CratePath {
    /// Checks that the text names a file inside the crate.
    pub fn new(text: impl Into<String>) -> Result<Self, NotInsideTheCrate> {
        let text = text.into();
        let reason = if text.is_empty() {
            "it is empty"
        } else if text.starts_with('/') {
            "it is absolute"
        } else if text.contains(['\\', ':']) || text.chars().any(char::is_control) {
            "it contains a character that paths of all systems cannot"
        } else if text.split('/').any(|part| part == "..") {
            "it leads upwards"
        } else if text.split('/').any(|part| part.is_empty() || part == ".") {
            "it has an empty part"
        } else if text.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
            "it belongs to git"
        } else {
            return Ok(Self(text));
        };
        Err(NotInsideTheCrate { text, reason })
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path below a directory.
    pub fn below(&self, directory: &Path) -> PathBuf {
        directory.join(&self.0)
    }
}

impl TryFrom<String> for CratePath {
    type Error = NotInsideTheCrate;

    fn try_from(text: String) -> Result<Self, NotInsideTheCrate> {
        Self::new(text)
    }
}

impl From<CratePath> for String {
    fn from(path: CratePath) -> Self {
        path.0
    }
}

impl fmt::Display for CratePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_inside_the_crate_are_paths() {
        for good in ["src/lib.rs", "tests/a b.rs", "x"] {
            assert_eq!(CratePath::new(good).unwrap().as_str(), good);
        }
        for bad in
            ["", "/etc/passwd", "../up", "src/../../up", "src//lib.rs", "./x", "a/", "c:\\x", ".git/config", "a\n"]
        {
            assert_eq!(CratePath::new(bad).unwrap_err().text, bad);
        }
    }
}
