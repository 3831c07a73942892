//! Errors that any operation on a worktree can have.

use std::{fmt, path::PathBuf, time::Duration};

use crate::values::{
    git_error::{GitError, Listed},
    name::BranchName,
    path::RepositoryPath,
};

/// A worktree is not as it was when it was created or opened, or could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorktreeError {
    /// It is not registered any more, or its directory is gone.
    #[error("there is no worktree at {} any more: create it again", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// Its `.git` was changed: it names another repository, or refers to directories outside of a clone.
    #[error("the `.git` in {} does not name this repository any more (it says {found:?}); nothing was touched", path.display())]
    Diverted {
        /// The worktree.
        path: PathBuf,
        /// The contents of the `.git` file, or what is wrong with the clone's directory.
        found: String,
    },
    /// Its HEAD was moved to another branch, or detached.
    #[error("{} should be on {}, but is on {found}: switch it back", path.display(), expected.as_ref().map_or("a detached HEAD", BranchName::as_str))]
    HeadElsewhere {
        /// The worktree.
        path: PathBuf,
        /// The branch it was created on; none if detached.
        expected: Option<BranchName>,
        /// Where HEAD is now.
        found: String,
    },
    /// Its branch has no commit yet.
    #[error("{} has no commit yet: make one first", path.display())]
    NoCommitYet {
        /// The worktree.
        path: PathBuf,
    },
    /// Another process holds the lock of its index.
    #[error("{} is locked by another git process, and still was after {:.1} s: wait for it, or delete that file if there is none", lock.display(), waited.as_secs_f32())]
    IndexBusy {
        /// The lock file.
        lock: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    /// Changed files are larger than [`Limits::object`](crate::Limits::object); in a diff, all of them together. A
    /// filter of the user's configuration can read files of any size: see `git help attributes`.
    #[error("files in {} are larger than {most} bytes: {}; delete or ignore them, have a filter such as git-lfs read them, or raise `Limits::object`", path.display(), Listed(files))]
    TooLarge {
        /// The worktree.
        path: PathBuf,
        /// The most bytes that a file may have.
        most: u64,
        /// The files.
        files: Vec<LargeFile>,
    },
    /// It could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A file that is too large to be read into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeFile {
    /// The file.
    pub path: RepositoryPath,
    /// Its size in bytes.
    pub bytes: u64,
}

impl fmt::Display for LargeFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({} bytes)", self.path, self.bytes)
    }
}
