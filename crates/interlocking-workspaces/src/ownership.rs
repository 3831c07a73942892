//! The ownership of files.

use interlocking_worktree::{FileChange, RepositoryPath};
use std::collections::BTreeMap;
use std::fmt;

/// The owners of files, by patterns of their paths.
///
/// ```
/// use interlocking_workspaces::{Ownership, Pattern};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ownership = Ownership::new()
///     .with("tests", ["tests/", "src/**/test_*.rs"])?
///     .with("code", ["src/lib.rs", "src/stack/"])?
///     .with_protected(Pattern::build_definitions());
/// let overlaps = ownership.overlaps();
/// assert_eq!(overlaps[0].to_string(), "`tests` and `code` both own paths that match `src/**/test_*.rs` and `src/stack/`");
/// assert_eq!(ownership.violations_of("code", ["src/lib.rs", "tests/a.rs", "Cargo.toml"]).len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    owners: BTreeMap<String, Vec<Pattern>>,
    protected: Vec<Pattern>,
}

/// A pattern of paths, relative to the root of the repository: `src/lib.rs` matches that file, `src/` everything below
/// the directory, `*` any text without `/`, `?` one character, and a part `**` any number of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any number of parts.
    Any,
    /// One part that matches this.
    One(Vec<char>),
}

/// A text is not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no pattern of paths in a repository: {reason}")]
pub struct PatternError {
    /// The text.
    pub text: String,
    /// The reason.
    pub reason: &'static str,
}

/// Two owners of one path, whether or not a file exists there (SAW-12).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` and `{}` both own paths that match `{}` and `{}`", owners.0, owners.1, patterns.0, patterns.1)]
pub struct Overlap {
    /// The owners.
    pub owners: (String, String),
    /// The pattern of each.
    pub patterns: (Pattern, Pattern),
}

/// A change to a path that its author does not own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{by}` may not change `{path}`, which {}", belongs(ownership))]
pub struct OwnershipViolation {
    /// The author of the change.
    pub by: String,
    /// The changed path.
    pub path: String,
    /// The ownership of the path.
    pub ownership: PathOwnership,
}

/// The ownership of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathOwnership {
    /// These owners own it.
    Owned(Vec<String>),
    /// It is protected: no owner may change it.
    Protected,
    /// No pattern matches it.
    Unowned,
}

impl Ownership {
    /// An ownership without owners.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds these patterns to those of `owner`.
    ///
    /// # Errors
    ///
    /// [`PatternError`] with the first text that is not a valid pattern.
    pub fn with<P: AsRef<str>>(
        mut self,
        owner: impl Into<String>,
        patterns: impl IntoIterator<Item = P>,
    ) -> Result<Self, PatternError> {
        let owned = self.owners.entry(owner.into()).or_default();
        for pattern in patterns {
            owned.push(Pattern::new(pattern.as_ref())?);
        }
        Ok(self)
    }

    /// Adds patterns of paths that no owner may change.
    #[must_use]
    pub fn with_protected(mut self, patterns: impl IntoIterator<Item = Pattern>) -> Self {
        self.protected.extend(patterns);
        self
    }

    /// All pairs of patterns of different owners that a path could match both. Empty if no two owners can change the
    /// same file.
    pub fn overlaps(&self) -> Vec<Overlap> {
        let mut overlaps = Vec::new();
        for (number, (one, patterns)) in self.owners.iter().enumerate().rev() {
            for (other, others) in self.owners.iter().take(number) {
                let pairs = patterns.iter().flat_map(|pattern| others.iter().map(move |other| (pattern, other)));
                overlaps.extend(pairs.filter(|(one, other)| one.overlaps(other)).map(|(pattern, others)| Overlap {
                    owners: (one.clone(), other.clone()),
                    patterns: (pattern.clone(), others.clone()),
                }));
            }
        }
        overlaps
    }

    /// The ownership of a path.
    pub fn of(&self, path: &str) -> PathOwnership {
        if self.protected.iter().any(|pattern| pattern.matches(path)) {
            return PathOwnership::Protected;
        }
        let owns = |(_, patterns): &(&String, &Vec<Pattern>)| patterns.iter().any(|pattern| pattern.matches(path));
        let owners: Vec<_> = self.owners.iter().filter(owns).map(|(owner, _)| owner.clone()).collect();
        if owners.is_empty() { PathOwnership::Unowned } else { PathOwnership::Owned(owners) }
    }

    /// The changes that `owner` may not make, in the order given; for a renamed file both paths count.
    pub fn violations<'c>(
        &self,
        owner: &str,
        changes: impl IntoIterator<Item = &'c FileChange>,
    ) -> Vec<OwnershipViolation> {
        let touched = changes.into_iter().flat_map(FileChange::touched).map(RepositoryPath::to_text);
        self.violations_of(owner, touched.collect::<Vec<_>>())
    }

    /// The paths that `owner` may not change.
    pub fn violations_of<P: AsRef<str>>(
        &self,
        owner: &str,
        paths: impl IntoIterator<Item = P>,
    ) -> Vec<OwnershipViolation> {
        let judged = paths.into_iter().map(|path| (self.of(path.as_ref()), path.as_ref().to_owned()));
        let is_violated = |ownership: &PathOwnership| match ownership {
            PathOwnership::Owned(owners) => !owners.iter().any(|own| own == owner),
            PathOwnership::Protected | PathOwnership::Unowned => true,
        };
        judged
            .filter(|(ownership, _)| is_violated(ownership))
            .map(|(ownership, path)| OwnershipViolation { by: owner.to_owned(), path, ownership })
            .collect()
    }
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// [`PatternError`] if the text is empty, absolute, or leads out of the repository.
    pub fn new(text: impl Into<String>) -> Result<Self, PatternError> {
        let text = text.into();
        let refuse = |text, reason| Err(PatternError { text, reason });
        if text.is_empty() {
            return refuse(text, "it is empty");
        }
        if text.starts_with('/') {
            return refuse(text, "it is absolute; give it relative to the root of the repository");
        }
        let below = text.ends_with('/');
        let mut parts = Vec::new();
        for part in text.trim_end_matches('/').split('/') {
            match part {
                "" | "." | ".." => return refuse(text, "it has an empty, `.` or `..` part"),
                "**" => parts.push(Part::Any),
                part => parts.push(Part::One(part.chars().collect())),
            }
        }
        if below {
            // At least one part below.
            parts.extend([Part::Any, Part::One(vec!['*'])]);
        }
        Ok(Self { text, parts })
    }

    /// The files that decide how cargo builds a project: manifests and lock files, build scripts, cargo's configuration
    /// and the toolchain's version, in any directory (V3-80). A build script can pass information across a barrier
    /// between agents, so blind agents must not write one.
    pub fn build_definitions() -> Vec<Self> {
        const ALL: [&str; 6] = [
            "**/Cargo.toml",
            "**/Cargo.lock",
            "**/build.rs",
            "**/.cargo/**",
            "**/rust-toolchain",
            "**/rust-toolchain.toml",
        ];
        ALL.into_iter().filter_map(|text| Self::new(text).ok()).collect()
    }

    /// Whether a path matches the pattern.
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<_> = path.split('/').map(|part| Part::One(part.chars().collect())).collect();
        // Wildcard characters in the path stand for themselves.
        sequences_match(&self.parts, &parts, &|one, other| match (one, other) {
            (Part::One(pattern), Part::One(text)) => part_matches(pattern, text),
            _ => false,
        })
    }

    /// Whether some path matches both patterns.
    pub fn overlaps(&self, other: &Self) -> bool {
        sequences_match(&self.parts, &other.parts, &|one, other| match (one, other) {
            (Part::One(one), Part::One(other)) => parts_overlap(one, other),
            _ => false,
        })
    }
}

/// Whether two sequences of parts can match each other; `same` decides for two single parts.
fn sequences_match(one: &[Part], other: &[Part], same: &impl Fn(&Part, &Part) -> bool) -> bool {
    fill_table(one.len(), other.len(), |i, j, can| match (one.get(i), other.get(j)) {
        (None, None) => true,
        (Some(Part::Any), Some(_)) if can(i + 1, j) || can(i, j + 1) => true,
        (Some(_), Some(Part::Any)) if can(i, j + 1) || can(i + 1, j) => true,
        (Some(Part::Any), None) => can(i + 1, j),
        (None, Some(Part::Any)) => can(i, j + 1),
        (Some(a), Some(b)) => same(a, b) && can(i + 1, j + 1),
        _ => false,
    })
}

/// Whether a text matches a pattern of one part.
fn part_matches(pattern: &[char], text: &[char]) -> bool {
    fill_table(pattern.len(), text.len(), |i, j, can| match (pattern.get(i), text.get(j)) {
        (None, None) => true,
        (Some('*'), Some(_)) => can(i + 1, j) || can(i, j + 1),
        (Some('*'), None) => can(i + 1, j),
        (Some(a), Some(b)) => (*a == '?' || a == b) && can(i + 1, j + 1),
        _ => false,
    })
}

/// Whether some text matches both patterns of one part.
fn parts_overlap(one: &[char], other: &[char]) -> bool {
    fill_table(one.len(), other.len(), |i, j, can| match (one.get(i), other.get(j)) {
        (None, None) => true,
        (Some('*'), Some(_)) if can(i + 1, j) || can(i, j + 1) => true,
        (Some(_), Some('*')) if can(i, j + 1) || can(i + 1, j) => true,
        (Some('*'), None) => can(i + 1, j),
        (None, Some('*')) => can(i, j + 1),
        (Some('*'), Some(_)) | (Some(_), Some('*')) => false,
        (Some(a), Some(b)) => (*a == '?' || *b == '?' || a == b) && can(i + 1, j + 1),
        _ => false,
    })
}

/// Fills a table from the end to the beginning (dynamic programming), in time proportional to the product of the two
/// lengths.
fn fill_table(
    rows: usize,
    columns: usize,
    answer: impl Fn(usize, usize, &dyn Fn(usize, usize) -> bool) -> bool,
) -> bool {
    let mut known = vec![vec![false; columns + 2]; rows + 2];
    for i in (0..=rows).rev() {
        for j in (0..=columns).rev() {
            let found = answer(i, j, &|i, j| known[i][j]);
            known[i][j] = found;
        }
    }
    known[0][0]
}

fn belongs(ownership: &PathOwnership) -> String {
    match ownership {
        PathOwnership::Owned(owners) => {
            let owners: Vec<_> = owners.iter().map(|owner| format!("`{owner}`")).collect();
            format!("belongs to {}", owners.join(" and "))
        }
        PathOwnership::Protected => "nobody may change".to_owned(),
        PathOwnership::Unowned => "has no owner here".to_owned(),
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).unwrap()
    }

    #[test]
    fn what_a_pattern_is_like() {
        let cases = [
            ("src/lib.rs", "src/lib.rs", true),
            ("src/lib.rs", "src/lib.rs.bak", false),
            ("src/", "src/a/b.rs", true),
            ("src/", "src", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("src/**", "src/a/b.rs", true),
            ("**/test_*.rs", "test_a.rs", true),
            ("**/test_*.rs", "a/b/test_a.rs", true),
            ("**/test_*.rs", "a/b/tests.rs", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "a*b", true),
            ("a", "*", false),
        ];
        for (text, path, is_like) in cases {
            assert_eq!(pattern(text).matches(path), is_like, "{text} {path}");
        }
        for wrong in ["", "/src", "../x", "a//b", "./a"] {
            assert!(Pattern::new(wrong).is_err(), "{wrong}");
        }
    }

    /// SAW-12, SAW-38: two patterns overlap exactly if some path matches both.
    #[test]
    fn patterns_overlap_where_a_path_is_like_both() {
        let alphabet = ["a", "b", "ab", "ba", "aa"];
        let mut paths: Vec<String> = alphabet.map(str::to_owned).to_vec();
        for depth in 0..2 {
            let longer: Vec<_> = paths.iter().flat_map(|path| alphabet.map(|part| format!("{path}/{part}"))).collect();
            paths.extend(longer);
            assert!(depth < 2);
        }
        let parts = ["a", "b", "*", "a*", "*b", "?", "**"];
        let mut patterns: Vec<String> = parts.map(str::to_owned).to_vec();
        patterns.extend(parts.iter().flat_map(|one| parts.map(|other| format!("{one}/{other}"))));
        patterns.extend(["a/", "b/", "a/**/b", "**/a/**"].map(str::to_owned));
        for one in &patterns {
            for other in &patterns {
                let (a, b) = (pattern(one), pattern(other));
                let found = paths.iter().find(|path| a.matches(path) && b.matches(path));
                assert_eq!(a.overlaps(&b), found.is_some(), "{one} {other} {found:?}");
            }
        }
    }

    #[test]
    fn a_violation_says_whose_the_path_is() {
        let ownership = Ownership::new().with("tests", ["tests/"]).unwrap().with("code", ["src/"]).unwrap();
        assert_eq!(ownership.overlaps(), []);
        let ownership = ownership.with_protected(Pattern::build_definitions());
        let paths = ["src/lib.rs", "src/build.rs", "tests/a.rs", "README.md", "src/.cargo/config.toml", "a/Cargo.toml"];
        let said: Vec<_> = ownership.violations_of("code", paths).iter().map(ToString::to_string).collect();
        let expected = [
            "`code` may not change `src/build.rs`, which nobody may change",
            "`code` may not change `tests/a.rs`, which belongs to `tests`",
            "`code` may not change `README.md`, which has no owner here",
            "`code` may not change `src/.cargo/config.toml`, which nobody may change",
            "`code` may not change `a/Cargo.toml`, which nobody may change",
        ];
        assert_eq!(said, expected);
    }
}
