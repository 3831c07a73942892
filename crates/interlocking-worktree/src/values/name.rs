//! Names of branches and of archive references, safe by construction.

use std::{fmt, str::FromStr};

/// The name of a local branch without `refs/heads/`, such as `tests-r7`.
///
/// It is more restricted than git's names: no leading dash, `..`, control characters, spaces, or names that have a
/// special meaning to git, a file system or this crate; see [`NameRule`]. A flat name is best: `agent` and `agent/one`
/// cannot exist together. A branch that exists already may have any name that git allows, and is read with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BranchName(String);

/// The name of an archive reference below `refs/interlocking/archive/`, such as `r7/1`.
///
/// It follows the same rules as a [`BranchName`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArchiveName(String);

/// A name breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot be a {what}: {reason}")]
pub struct NameError {
    /// The name as given.
    pub name: String,
    /// What the name is for.
    pub what: &'static str,
    /// The rule it breaks.
    pub reason: NameRule,
}

/// A rule for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameRule {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It has more than [`NameRule::LONGEST`] bytes, or a part has more than [`NameRule::LONGEST_PART`].
    #[error("it is too long (at most 200 bytes, and 100 between two slashes)")]
    TooLong,
    /// A part begins with a dash, which a command line would read as an option.
    #[error("a part of it begins with a dash, which a command line reads as an option")]
    LeadingDash,
    /// It begins or ends with a slash or has two in a row.
    #[error("it begins or ends with a slash, or has two in a row")]
    Slashes,
    /// It contains `..`.
    #[error("it contains `..`")]
    DotDot,
    /// A part begins with a dot, or ends with a dot or `.lock`.
    #[error("a part of it begins with a dot, or ends with a dot or with `.lock`")]
    Dots,
    /// It contains a control character, a space, or one of `~^:?*[\@{`.
    #[error("it contains {0:?}, which names may not contain")]
    Character(char),
    /// It has a special meaning: `HEAD`, `refs/…`, forty hexadecimal digits, and the like.
    #[error("git reads it as something else")]
    Reserved,
    /// A part is a device on Windows: `con`, `nul`, `com1` and the like, with or without an extension. References are
    /// files, so a branch of that name can never be fetched there.
    #[error("a part of it is a device's name on Windows")]
    Device,
}

impl NameRule {
    /// The most bytes a name may have.
    pub const LONGEST: usize = 200;
    /// The most bytes a part between two slashes may have: it is a file's name, to which git appends `.lock`.
    pub const LONGEST_PART: usize = 100;
}

const BRANCHES: &str = "refs/heads/";
const ARCHIVE: &str = "refs/interlocking/archive/";

impl BranchName {
    /// Checks a name.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        check(name.into(), "branch name").map(Self)
    }

    /// The name without `refs/heads/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A branch that exists already may have any name that git allows.
    pub(crate) fn from_git(full_name: &gix::refs::FullNameRef) -> Option<Self> {
        let name = std::str::from_utf8(full_name.as_bstr()).ok()?;
        name.strip_prefix(BRANCHES).map(|name| Self(name.to_owned()))
    }

    pub(crate) fn full_name(&self) -> String {
        format!("{BRANCHES}{}", self.0)
    }
}

impl ArchiveName {
    /// Checks a name.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        check(name.into(), "archive name").map(Self)
    }

    /// The name without `refs/interlocking/archive/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn from_git(full_name: &gix::refs::FullNameRef) -> Option<Self> {
        let name = std::str::from_utf8(full_name.as_bstr()).ok()?;
        name.strip_prefix(ARCHIVE).map(|name| Self(name.to_owned()))
    }

    /// The full name of the reference, for `git log` and the like.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("{ARCHIVE}{}", self.0)
    }

    pub(crate) const PREFIX: &'static str = ARCHIVE;
}

macro_rules! name {
    ($name:ident) => {
        impl FromStr for $name {
            type Err = NameError;

            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name!(BranchName);
name!(ArchiveName);

fn check(name: String, what: &'static str) -> Result<String, NameError> {
    match broken_rule(&name) {
        None => Ok(name),
        Some(reason) => Err(NameError { name, what, reason }),
    }
}

fn broken_rule(name: &str) -> Option<NameRule> {
    if name.is_empty() {
        return Some(NameRule::Empty);
    }
    if name.len() > NameRule::LONGEST {
        return Some(NameRule::TooLong);
    }
    if let Some(character) = name.chars().find(|character| is_forbidden(*character)) {
        return Some(NameRule::Character(character));
    }
    if name.contains("..") {
        return Some(NameRule::DotDot);
    }
    for part in name.split('/') {
        if part.is_empty() {
            return Some(NameRule::Slashes);
        }
        if part.len() > NameRule::LONGEST_PART {
            return Some(NameRule::TooLong);
        }
        if part.starts_with('-') {
            return Some(NameRule::LeadingDash);
        }
        let is_lock = part.len() > 4 && part.to_ascii_lowercase().ends_with(".lock");
        if part.starts_with('.') || part.ends_with('.') || is_lock {
            return Some(NameRule::Dots);
        }
        if gix::validate::path::component_is_windows_device(part.into()) {
            return Some(NameRule::Device);
        }
    }
    if is_reserved(name) || gix::validate::reference::branch_name(format!("{BRANCHES}{name}").as_str().into()).is_err()
    {
        return Some(NameRule::Reserved);
    }
    None
}

/// `@` is allowed in git's names, but `@{` is not and a lone `@` means HEAD; this crate needs no `@`.
fn is_forbidden(character: char) -> bool {
    character.is_control() || character.is_whitespace() || "~^:?*[\\@{".contains(character)
}

fn is_reserved(name: &str) -> bool {
    let is_object_id = name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    // `HEAD`, `FETCH_HEAD`, `ORIG_HEAD`, `MERGE_HEAD`, `CHERRY_PICK_HEAD`, ... `head` is the same file on systems that
    // ignore case in names.
    let is_pseudo_reference = name.eq_ignore_ascii_case("HEAD")
        || (name.ends_with("_HEAD") && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'));
    is_object_id || is_pseudo_reference || name.starts_with("refs/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_use_are_taken() {
        for name in ["main", "tests-r7", "feature/one", "v1.2", "übung", "a_HEAD", "console", "git"] {
            assert_eq!(BranchName::new(name).unwrap().as_str(), name);
        }
        assert_eq!(ArchiveName::new("r7/1").unwrap().reference(), "refs/interlocking/archive/r7/1");
    }

    #[test]
    fn each_rule_is_named_when_broken() {
        let long = "x".repeat(101);
        let longer = "xy/".repeat(70);
        let cases = [
            ("", NameRule::Empty),
            (long.as_str(), NameRule::TooLong),
            (longer.as_str(), NameRule::TooLong),
            ("-b", NameRule::LeadingDash),
            ("a/-b", NameRule::LeadingDash),
            ("/a", NameRule::Slashes),
            ("a//b", NameRule::Slashes),
            ("a/", NameRule::Slashes),
            ("../main", NameRule::DotDot),
            ("a..b", NameRule::DotDot),
            (".hidden", NameRule::Dots),
            ("a/.b", NameRule::Dots),
            ("a.lock", NameRule::Dots),
            ("a.LOCK", NameRule::Dots),
            (".git", NameRule::Dots),
            ("a/.GIT/b", NameRule::Dots),
            ("nul", NameRule::Device),
            ("run/COM1.txt", NameRule::Device),
            ("Head", NameRule::Reserved),
            ("a b", NameRule::Character(' ')),
            ("a\nb", NameRule::Character('\n')),
            ("a\u{7f}", NameRule::Character('\u{7f}')),
            ("a~1", NameRule::Character('~')),
            ("a:b", NameRule::Character(':')),
            ("@", NameRule::Character('@')),
            ("C:\\x", NameRule::Character(':')),
            ("HEAD", NameRule::Reserved),
            ("FETCH_HEAD", NameRule::Reserved),
            ("refs/heads/main", NameRule::Reserved),
            ("0123456789abcdef0123456789abcdef01234567", NameRule::Reserved),
        ];
        for (name, reason) in cases {
            let error = BranchName::new(name).unwrap_err();
            assert_eq!(error.reason, reason, "{name:?}");
            assert!(error.to_string().contains("branch name"), "{error}");
            assert!(ArchiveName::new(name).is_err(), "{name:?}");
        }
    }
}
