//! The reasons for refusing to read or write something.

use std::path::PathBuf;

/// Data that an agent can write is not valid. Nothing was done with it.
///
/// [`GitError::reason`](crate::GitError::reason) returns it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Something else is in the place of a file: reading it could block for ever.
    #[error("{} is {found}, not a file: delete it", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// A file is larger than the limit of its kind.
    #[error("{} has {bytes} bytes, and more than {most} are not read: if that is meant, raise `Limits::{limit}`", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The most that is read.
        most: u64,
        /// The field of [`Limits`](crate::Limits) that sets the limit.
        limit: &'static str,
    },
    /// A file of git or of this crate is far larger than such a file ever is.
    #[error("{} has {bytes} bytes, where {most} are plenty: delete it, or repair it by hand", path.display())]
    Oversized {
        /// The path.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The most bytes that such a file may have.
        most: u64,
    },
    /// An index is not one that git writes.
    #[error("{} is not sound: {problem}; delete it and run `git reset`", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A tree is not one that git makes: `git fsck` reports it, and `git clone` refuses it.
    #[error("the tree {tree} is not one that git makes: {problem}")]
    Tree {
        /// Its id.
        tree: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file has a name that git does not commit.
    #[error("{path:?} cannot be committed: {problem}; rename it, or ignore it")]
    Name {
        /// Its path.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A command may run code from a directory that an agent can write to: its program is named relative to it, or is
    /// not one that is known to look for no code there.
    #[error(
        "{setting} says {command:?}, and {word:?} may run code from the directory of the files, which an agent can write: {remedy}"
    )]
    Program {
        /// Git's setting.
        setting: String,
        /// The whole command.
        command: String,
        /// The part that is not accepted.
        word: String,
        /// What to write instead.
        remedy: &'static str,
    },
}
