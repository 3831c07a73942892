//! Paths that stay inside the crate.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file's path relative to the crate, with `/` between its parts and nothing that leads elsewhere, or is taken for something else:
/// no root, no `.` or `..`, nothing of git's own however a file system spells it, nothing that a program takes for an option or a
/// pattern, and no character that is not seen.
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
        let some_part = |is: fn(&str) -> bool| text.split('/').any(is);
        let reason = if text.is_empty() {
            "it is empty"
        } else if text.len() > LONGEST || some_part(|part| part.len() > LONGEST_PART) {
            "it is longer than paths of all systems can be"
        } else if text.starts_with('/') {
            "it is absolute"
        } else if text.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) || text.chars().any(char::is_control) {
            "it contains a character that paths of all systems cannot"
        } else if text.chars().any(is_unseen) {
            "it contains a character that is not seen"
        } else if some_part(|part| part == "..") {
            "it leads upwards"
        } else if some_part(|part| part.is_empty() || part == ".") {
            "it has an empty part"
        } else if some_part(is_gits) {
            "it belongs to git"
        } else if some_part(|part| part.starts_with('-')) {
            "a part of it begins with `-`, as options do"
        } else if some_part(|part| part.ends_with(['.', ' ']) || part.starts_with(' ')) {
            "a part of it begins with a space, or ends with one or with a dot, which some systems leave out"
        } else {
            return Ok(Self(text));
        };
        Err(NotInsideTheCrate { text: text.chars().take(LONGEST_PART).collect(), reason })
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

/// How long a path may be, and a part of it, in bytes.
const LONGEST: usize = 1024;
const LONGEST_PART: usize = 255;

/// Whether a part of a path is git's own directory, or a file that tells git what to do, on any file system: some leave out dots and
/// spaces at the end, or know `.git` by a short name.
fn is_gits(part: &str) -> bool {
    let part = part.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    part.starts_with(".git") || part.starts_with("git~")
}

/// Whether a character takes no room where it is shown, or changes the order of others: a file system may leave it out.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
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
            ".g\u{200c}it/config",
            "src/\u{202e}sr.bil",
            "src/\u{1b}[2J.rs",
        ] {
            let error = CratePath::new(bad).unwrap_err();
            assert!(error.to_string().ends_with("write it relative to the crate, such as `src/lib.rs`"), "{error}");
        }
        assert!(CratePath::new("x".repeat(256)).is_err() && CratePath::new("x/".repeat(600) + "x").is_err());
        let long = CratePath::new("x".repeat(3_000_000)).unwrap_err().to_string();
        assert!(long.len() < 500, "{}", long.len());
    }
}
