//! The differences between a working tree and its commit.

use std::fmt;

use crate::values::path::RepositoryPath;

/// One path of a working tree that differs from the commit it is at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Change {
    /// The path.
    pub path: RepositoryPath,
    /// How it differs.
    pub kind: ChangeKind,
}

/// How a path differs from the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Not in the commit, but in the index: it was added with `git add`.
    Added,
    /// Its contents or its executable bit differ.
    Modified,
    /// It was deleted.
    Deleted,
    /// A file became a symbolic link, or the reverse.
    TypeChanged,
    /// It is in neither the commit nor the index.
    Untracked,
    /// A merge left it unresolved in the index.
    Conflicted,
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::TypeChanged => "type changed",
            Self::Untracked => "untracked",
            Self::Conflicted => "conflicted",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.path, self.kind)
    }
}
