//! Paths that stay inside the crate.

use std::fmt;
use std::path::{Path, PathBuf};

use interlocking::workspaces::FilePath;
use interlocking::worktree::RepositoryPath;
use serde::{Deserialize, Serialize};

/// A file's path relative to the crate that is taken for nothing else on any system: a [`FilePath`] that no program takes for an
/// option or a pattern, that no file system changes, of which each character is seen, and that is none of the files that tell git what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CratePath(FilePath);

/// The text does not name a file inside the crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a file inside the crate: {reason}; write it relative to the crate, such as `src/lib.rs`")]
pub struct NotInsideTheCrate {
    /// The refused text, or its beginning.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl CratePath {
    /// Checks that the text names a file inside the crate.
    pub fn new(text: impl Into<String>) -> Result<Self, NotInsideTheCrate> {
        let text = text.into();
        let refused = |reason: &dyn ToString| NotInsideTheCrate {
            text: text.chars().take(255).collect(),
            reason: reason.to_string(),
        };
        let path = FilePath::new(text.as_str()).map_err(|error| refused(&error.reason))?;
        let some_part = |is: fn(&str) -> bool| text.split('/').any(is);
        let reason = if text.contains([':', '*', '?', '"', '<', '>', '|']) {
            "it contains a character that paths of all systems cannot"
        } else if text.contains(is_unseen) {
            "it contains a character that is not seen"
        } else if some_part(is_gits) {
            "it belongs to git"
        } else if some_part(|part| part.starts_with('-')) {
            "a part of it begins with `-`, as options do"
        } else if some_part(|part| part.ends_with(['.', ' ']) || part.starts_with(' ')) {
            "a part of it begins with a space, or ends with one or with a dot, which some systems leave out"
        } else {
            return Ok(Self(path));
        };
        Err(refused(&reason))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The path as git has it.
    pub fn in_repository(&self) -> &RepositoryPath {
        self.0.in_repository()
    }

    /// The path below a directory.
    pub fn below(&self, directory: &Path) -> PathBuf {
        directory.join(self.as_str())
    }
}

/// Whether a part of a path is a file that tells git what to do, on any file system.
fn is_gits(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    part.starts_with(".git") || part.starts_with("git~")
}

/// Whether a character takes no room where it is shown. A file system may leave it out.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

impl TryFrom<String> for CratePath {
    type Error = NotInsideTheCrate;

    fn try_from(text: String) -> Result<Self, NotInsideTheCrate> {
        Self::new(text)
    }
}

impl From<CratePath> for String {
    fn from(path: CratePath) -> Self {
        path.0.into()
    }
}

impl fmt::Display for CratePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_inside_the_crate_are_paths() {
        for good in
            ["src/lib.rs", "tests/a b.rs", "x", "src/a-b.rs", "src/.hidden/ä.rs", "src/git.rs", "src/legit/x.rs"]
        {
            assert_eq!(CratePath::new(good).unwrap().as_str(), good);
        }
        for bad in
            ["", "/etc/passwd", "../up", "src/../../up", "src//lib.rs", "./x", "a/", "c:\\x", ".git/config", "a\n"]
        {
            assert_eq!(CratePath::new(bad).unwrap_err().text, bad);
        }
    }

    #[test]
    fn what_a_program_or_a_file_system_takes_for_something_else_is_refused() {
        for bad in [
            "--help",
            "-rf",
            "src/-o.rs",
            "src/lib.rs.",
            "src /lib.rs",
            "src/ lib.rs",
            ".GIT/config",
            ".git./config",
            ".git /hooks/x",
            "GIT~1/config",
            "src/.gitattributes",
            ".gitmodules",
            "src/*.rs",
            "src/li\u{200b}b.rs",
            "src/li\u{ad}b.rs",
            "src/li\u{fe0f}b.rs",
            "src/li\u{e0100}b.rs",
            ".g\u{200c}it/config",
            "src/\u{202e}sr.bil",
            "src/\u{1b}[2J.rs",
        ] {
            let error = CratePath::new(bad).unwrap_err();
            assert!(error.to_string().ends_with("write it relative to the crate, such as `src/lib.rs`"), "{error}");
        }
        assert!(CratePath::new("x".repeat(256)).is_err() && CratePath::new("x/".repeat(2100) + "x").is_err());
        let long = CratePath::new("x".repeat(3_000_000)).unwrap_err().to_string();
        assert!(long.len() < 500, "{}", long.len());
    }
}
