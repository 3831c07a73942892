//! Paths inside a repository.

use std::{
    borrow::Cow,
    fmt,
    path::{Path, PathBuf},
};

use gix::{
    bstr::{BStr, BString, ByteSlice},
    validate::path::{component, component::Options},
};

/// A path of a file or directory relative to the root of the working tree, with `/` between its parts.
///
/// It never leaves the tree: no `..`, no leading `/`, no `.git`, also as spelled on the file systems of Windows and
/// macOS. It has no control character, and none that changes the order in which others are shown. It may have characters
/// that are not seen, since emoji and words of some languages need them, and bytes that are not UTF-8, since git's paths
/// may. A part may be a device's name on Windows, since projects have an `aux.rs`; such a project cannot be checked out
/// there. Paths that git itself reports (in a diff or a conflict) are not checked.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepositoryPath(BString);

/// A path is not one inside a repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is not a path inside the repository: {reason}")]
pub struct PathError {
    /// The path as given.
    pub path: String,
    /// The rule it breaks.
    pub reason: PathRule,
}

/// A rule for paths inside a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathRule {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It begins with a slash or a drive letter.
    #[error("it is absolute; give it relative to the root of the working tree")]
    Absolute,
    /// A part is empty, `.` or `..`.
    #[error("it has an empty, `.` or `..` part")]
    NotPlain,
    /// A part is `.git`, which belongs to git: in upper or lower case, and in every spelling that a file system treats
    /// as equal, such as `git~1`, `.git.` or with invisible characters.
    #[error("`.git` belongs to git")]
    DotGit,
    /// It contains a backslash, which some systems read as a slash.
    #[error("it contains a backslash")]
    Backslash,
    /// It begins with a dash, which a command line would read as an option.
    #[error("it begins with a dash, which a command line reads as an option")]
    LeadingDash,
    /// It contains a control character.
    #[error("it contains a control character")]
    ControlCharacter,
    /// It contains a character that changes the order in which others are shown, or begins a new line: it would be read
    /// as another path.
    #[error("it contains a character that changes the order of others, or begins a new line")]
    ReorderingCharacter,
    /// It has more than [`PathRule::LONGEST`] bytes, or a part more than [`PathRule::LONGEST_PART`].
    #[error("it is longer than 4096 bytes, or a part of it than 255")]
    TooLong,
}

impl PathRule {
    /// The most bytes a path may have.
    pub const LONGEST: usize = 4096;
    /// The most bytes a part between two slashes may have: no common file system has longer names.
    pub const LONGEST_PART: usize = 255;
}

impl RepositoryPath {
    /// Checks a path.
    pub fn new(path: impl AsRef<[u8]>) -> Result<Self, PathError> {
        let path = path.as_ref();
        match broken_rule(path) {
            None => Ok(Self(path.into())),
            Some(reason) => Err(PathError { path: path.to_str_lossy().into_owned(), reason }),
        }
    }

    /// The path as text, with replacement characters where it is not UTF-8.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        self.0.to_str_lossy()
    }

    /// The path as git stores it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path with the separators of this system, still relative.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        gix::path::from_bstr(self.0.as_bstr())
            .map_or_else(|_| PathBuf::from(self.to_text().into_owned()), Cow::into_owned)
    }

    /// Whether this is `directory` or lies below it, by whole parts: `tests/a.rs` is in `tests`, `tests.rs` is not.
    #[must_use]
    pub fn is_in(&self, directory: &Self) -> bool {
        self.0.strip_prefix(directory.0.as_slice()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// A path that git itself reported.
    pub(crate) fn from_git(path: &BStr) -> Self {
        Self(path.to_owned())
    }
}

impl fmt::Display for RepositoryPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_text())
    }
}

impl fmt::Debug for RepositoryPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.to_text())
    }
}

impl std::str::FromStr for RepositoryPath {
    type Err = PathError;

    fn from_str(path: &str) -> Result<Self, PathError> {
        Self::new(path)
    }
}

/// Paths are compared as bytes, so a plain text can be compared too.
impl PartialEq<str> for RepositoryPath {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for RepositoryPath {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

fn broken_rule(path: &[u8]) -> Option<PathRule> {
    if path.is_empty() {
        return Some(PathRule::Empty);
    }
    if path.len() > PathRule::LONGEST {
        return Some(PathRule::TooLong);
    }
    let has_drive = path.len() > 1 && path[1] == b':' && path[0].is_ascii_alphabetic();
    if path[0] == b'/' || has_drive || path.to_path().is_ok_and(Path::is_absolute) {
        return Some(PathRule::Absolute);
    }
    if path[0] == b'-' {
        return Some(PathRule::LeadingDash);
    }
    if path.contains(&b'\\') {
        return Some(PathRule::Backslash);
    }
    if path.chars().any(char::is_control) {
        return Some(PathRule::ControlCharacter);
    }
    for part in path.split(|byte| *byte == b'/') {
        if part.is_empty() || part == b"." || part == b".." {
            return Some(PathRule::NotPlain);
        }
        if part.len() > PathRule::LONGEST_PART {
            return Some(PathRule::TooLong);
        }
        // The rule by which `git fsck` rejects a tree.
        let options = Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
        if component(part.as_bstr(), None, options).is_err() {
            return Some(PathRule::DotGit);
        }
    }
    path.chars().any(is_reordering).then_some(PathRule::ReorderingCharacter)
}

/// Whether a character changes the order in which others are shown, or begins a new line.
fn is_reordering(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_named_when_broken() {
        let long = "x".repeat(PathRule::LONGEST + 1);
        let cases = [
            ("", PathRule::Empty),
            ("/etc/passwd", PathRule::Absolute),
            ("C:/x", PathRule::Absolute),
            ("-rf", PathRule::LeadingDash),
            ("../x", PathRule::NotPlain),
            ("a/../../x", PathRule::NotPlain),
            ("a//b", PathRule::NotPlain),
            ("./a", PathRule::NotPlain),
            (".git/config", PathRule::DotGit),
            ("a/.GIT/hooks", PathRule::DotGit),
            ("git~1/config", PathRule::DotGit),
            (".git./config", PathRule::DotGit),
            (".git /config", PathRule::DotGit),
            (".git::$INDEX_ALLOCATION/config", PathRule::DotGit),
            (".g\u{200c}it/config", PathRule::DotGit),
            ("src/\u{202e}sr.bil", PathRule::ReorderingCharacter),
            ("src/\u{2028}lib.rs", PathRule::ReorderingCharacter),
            ("src/\u{9b}2J.rs", PathRule::ControlCharacter),
            ("a\\..\\b", PathRule::Backslash),
            ("a\nb", PathRule::ControlCharacter),
            (long.as_str(), PathRule::TooLong),
            (&long[..256], PathRule::TooLong),
        ];
        for (path, reason) in cases {
            assert_eq!(RepositoryPath::new(path).unwrap_err().reason, reason, "{path:?}");
        }
    }

    /// Real projects have such names.
    #[test]
    fn characters_that_are_not_seen_are_part_of_names() {
        for path in [
            "docs/\u{2764}\u{fe0f}.md",
            "docs/\u{1f468}\u{200d}\u{1f469}.md",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}.txt",
            "\u{845b}\u{e0100}.txt",
            "soft\u{ad}hyphen.txt",
        ] {
            assert_eq!(RepositoryPath::new(path).map(|path| path.to_string()).as_deref(), Ok(path));
        }
    }

    #[test]
    fn being_in_a_directory_is_decided_by_whole_parts() {
        let tests = RepositoryPath::new("tests").unwrap();
        assert!(RepositoryPath::new("tests/all/main.rs").unwrap().is_in(&tests));
        assert!(tests.is_in(&tests));
        assert!(!RepositoryPath::new("tests.rs").unwrap().is_in(&tests));
        assert!(!RepositoryPath::new("src/tests").unwrap().is_in(&tests));
    }
}
