//! A directory of our own, in which runs have their worktrees: made ready, cleaned up, and found again after a crash.
//!
//! ```text
//! yard/.interlocking-yard    whose the yard is
//! yard/.pool/                retired worktrees, if there is a pool
//! yard/r7/.run               locked for as long as the run's process lives
//! yard/r7/tests              a worktree
//! ```
//!
//! **Invariant:** what is deleted is a worktree of this repository that git lists at this very place, and directories that
//! are empty. Anything else that lies in a yard stays there.

use std::path::{Path, PathBuf};

use crate::{
    checkout::reset::ResetError,
    pool::{
        Pool, PoolError,
        owned_directory::{self, own},
    },
    recovery::process_lock::Held,
    repository::Repository,
    runs::{
        copied_files::CopyError,
        setup::{Setup, SetupError},
    },
    values::{
        git_error::GitError,
        name::{BranchName, NameError, NameRule},
        path::RepositoryPath,
        worktree_error::WorktreeError,
    },
    worktrees::{
        new_worktree::{CreateError, resolve},
        remove::RemoveError,
    },
};

/// A directory for the worktrees of runs. A cheap handle; several processes may have one of the same directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Yard {
    pub(crate) repository: Repository,
    pub(crate) directory: PathBuf,
    pub(crate) settings: YardSettings,
    pub(crate) pool: Option<Pool>,
}

/// How a yard deals with its worktrees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct YardSettings {
    /// When worktrees stay after their run's end.
    pub keep: Keep,
    /// How many retired worktrees wait to be used again at most; zero: all are deleted.
    pub pool: usize,
    /// What makes a new worktree ready.
    pub setup: Option<Setup>,
    /// Ignored files that are copied into each new worktree from the user's working tree.
    pub copied: Vec<RepositoryPath>,
}

/// When worktrees stay after their run's end, for somebody to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// Never.
    #[default]
    Never,
    /// If the run failed.
    OnFailure,
    /// Always.
    Always,
}

/// The name of a run or of a place in it: a directory's name. The rules of a [`BranchName`], without slashes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceName(String);

/// Something in a yard could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YardError {
    /// The directory holds something else.
    #[error("{} is not a yard of this repository and not empty: give a directory that is", directory.display())]
    NotAYard {
        /// The directory.
        directory: PathBuf,
    },
    /// There is a run of this name, or what is left of one.
    #[error("there is a run {} already: choose another name, or deal with what is left of it", directory.display())]
    RunExists {
        /// Its directory.
        directory: PathBuf,
    },
    /// A worktree could not be created; a yard's directory could not be one.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A listed file could not be copied; the worktree was removed.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The setup command failed; the worktree was removed.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A worktree could not be removed; the others were.
    #[error(transparent)]
    Remove(#[from] RemoveError),
    /// A worktree could not be reset.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// The pool could not be opened.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A worktree is not what it was.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Says whose the directory is.
const MARKER: &str = ".interlocking-yard";
/// Locked by the process whose run it is.
pub(crate) const RUN: &str = ".run";
const POOL: &str = ".pool";

impl Yard {
    /// Opens the yard in `directory`, which is made if it is not there. It must lie outside the repository.
    ///
    /// # Errors
    ///
    /// [`YardError::NotAYard`] if something else is in it; nothing there is touched.
    pub fn open(
        repository: &Repository,
        directory: impl AsRef<Path>,
        settings: YardSettings,
    ) -> Result<Self, YardError> {
        let directory = resolve(directory.as_ref())?;
        if !own(repository, &directory, MARKER)? {
            return Err(YardError::NotAYard { directory });
        }
        let pool = match settings.pool {
            0 => None,
            limit => Some(Pool::open(repository, directory.join(POOL), limit)?),
        };
        Ok(Self { repository: repository.clone(), directory, settings, pool })
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Held while runs begin and are looked for.
    pub(crate) fn lock(&self) -> Result<Held, GitError> {
        owned_directory::lock(&self.directory, MARKER)
    }
}

impl PlaceName {
    /// Takes a name, unless it breaks a rule.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let what = "name of a run or place";
        let name = BranchName::new(name).map_err(|error| NameError { what, ..error })?;
        let name = name.as_str();
        if name.contains('/') {
            return Err(NameError { name: name.to_owned(), what, reason: NameRule::Slashes });
        }
        Ok(Self(name.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for PlaceName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}
