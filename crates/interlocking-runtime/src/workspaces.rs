//! The named places in which nodes work.

use async_trait::async_trait;
use std::collections::HashMap;
use std::path::PathBuf;
use thiserror::Error;

/// Finds the places that nodes name with `workspace = "name"`.
///
/// A place may come into being while the run goes on: a node that makes worktrees registers them with the value that
/// implements this, and later nodes find them here.
#[async_trait]
pub trait Workspaces: Send + Sync {
    /// Where the place called `name` is now.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where there is none (yet).
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError>;

    /// A description of everything that differs from the place's last recorded state, one line a difference.
    ///
    /// Asked before and after a node that is `read_only`; the node fails if the answer changed.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where that cannot be found out.
    async fn changes(&self, name: &str) -> Result<Vec<String>, WorkspaceError>;

    /// The commit that the place called `name` stands at; `None` where it is under no version control, or is not there yet.
    ///
    /// Asked when a run starts, so that the journal knows where to put the place back to before any node has said that it
    /// [committed](interlocking_core::context::Cx::committed) something.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where that cannot be found out.
    async fn commit(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        let _ = name;
        Ok(None)
    }

    /// Makes the place called `name` known to this process, which takes up a run in which a node has said that it
    /// [committed](interlocking_core::context::Cx::committed) there; `commit` is the last.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where there is no such place any more.
    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let _ = (name, commit);
        Ok(())
    }

    /// The same for a place in which a node was cut off, which is put back to `commit`: what that node has left there is
    /// removed, git's locks among it, which stay where a process is killed amid a commit.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where that is not possible.
    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let reason =
            format!("`{name}` cannot be put back to {commit}: it is under no version control that is known here");
        Err(WorkspaceError::Unusable { reason })
    }
}

/// Why a workspace cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WorkspaceError {
    /// There is no place of that name.
    #[error("there is no such place; known are: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    Unknown {
        /// The places there are.
        known: Vec<String>,
    },
    /// The place cannot be examined.
    #[error("{reason}")]
    Unusable {
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A node that may only read its workspace changed it.
    #[error("the node may only read this place, but changed it:\n{}", changes.join("\n"))]
    Changed {
        /// What it changed, one line a difference.
        changes: Vec<String>,
    },
}

/// Plain directories, all known before the run starts. Changes in them are not noticed.
#[derive(Clone, Debug, Default)]
pub struct Directories(HashMap<String, PathBuf>);

impl Directories {
    /// No directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more directory.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.0.insert(name.into(), path.into());
        self
    }
}

#[async_trait]
impl Workspaces for Directories {
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        self.0.get(name).cloned().ok_or_else(|| {
            let mut known: Vec<_> = self.0.keys().cloned().collect();
            known.sort();
            WorkspaceError::Unknown { known }
        })
    }

    async fn changes(&self, name: &str) -> Result<Vec<String>, WorkspaceError> {
        let reason = format!("`{name}` is a plain directory, whose changes nobody keeps track of");
        Err(WorkspaceError::Unusable { reason })
    }
}
