//! The named places in which nodes work.

use crate::isolation::IsolationOffer;
use async_trait::async_trait;
use interlocking_core::table::Isolation;
use interlocking_sandbox::Sandbox;
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

    /// How far the place called `name` keeps an agent from everything outside, on this machine. Without a word to the
    /// contrary, not at all.
    ///
    /// Asked before a run starts or is taken up, of a place that need not be there yet, for nodes that demand some
    /// `isolation`.
    fn isolation(&self, name: &str) -> IsolationOffer {
        let _ = name;
        IsolationOffer::of(Isolation::Worktree)
    }

    /// What confines the programs of an agent that works in the place called `name`; none where nothing does.
    ///
    /// Asked before each turn of an agent whose node demands `isolation = "sandbox"`.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where there is no such place (yet).
    fn sandbox(&self, name: &str) -> Result<Option<Sandbox>, WorkspaceError> {
        let _ = name;
        Ok(None)
    }

    /// Everything in which the place called `name` is not what it was handed over as, one line each: another commit or branch
    /// than it should be at, a link led astray, files changed that are nobody's to change.
    ///
    /// Asked before an agent starts there and after it has ended, whatever came of its turn; the node fails if there is
    /// anything.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where that cannot be found out.
    async fn verify(&self, name: &str, moment: Moment) -> Result<Vec<String>, WorkspaceError> {
        let _ = (name, moment);
        Ok(Vec::new())
    }

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

    /// Makes the place called `name` for a run that is a [fork](crate::journal::fork), at `commit`: the last that its history tells of;
    /// does nothing where it is there already.
    ///
    /// Asked whenever a fork is taken up, before the place is [opened](Self::open) or [restored](Self::restore), of every place whose
    /// commit its history knows. The place is the new run's own: the other run goes on in its.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where it cannot be made, because the commit is gone for example. Without a word to the contrary, that nobody
    /// knows how.
    async fn make(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let reason = format!(
            "a fork needs a place of its own, and these workspaces do not say how one is made at {commit}: `Workspaces::make`"
        );
        let _ = name;
        Err(WorkspaceError::Unusable { reason })
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

/// When a place is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// An agent is about to start.
    Before,
    /// Its turn has ended.
    After,
}

/// A place that is not what it was handed over as, before an agent's turn or after it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "workspace `{workspace}` is not as it should be {}:{}{}",
    match moment { Moment::Before => "before its agent starts", Moment::After => "after its agent's turn" },
    findings.iter().map(|finding| format!("\n  {finding}")).collect::<String>(),
    agent.as_ref().map_or_else(String::new, |error| format!("\nthe agent had failed, too: {error}"))
)]
pub struct Strayed {
    /// The place.
    pub workspace: String,
    /// When it was found out.
    pub moment: Moment,
    /// What is wrong, one line each.
    pub findings: Vec<String>,
    /// What the agent's turn ended with, if that was an error.
    pub agent: Option<String>,
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
    /// A place is not what it was handed over as.
    #[error(transparent)]
    Strayed(Box<Strayed>),
    /// There is nothing to confine an agent's programs with.
    #[error("workspace `{workspace}` has no sandbox, which its node demands: nothing was started there")]
    Unconfined {
        /// The place.
        workspace: String,
    },
}

/// Plain directories, all known before the run starts. Changes in them are not noticed.
#[derive(Clone, Debug, Default)]
pub struct Directories {
    paths: HashMap<String, PathBuf>,
    sandboxes: HashMap<String, Sandbox>,
}

impl Directories {
    /// No directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more directory.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.paths.insert(name.into(), path.into());
        self
    }

    /// The same with one more, whose agents `sandbox` confines to [its place](Sandbox::place).
    #[must_use]
    pub fn with_sandbox(mut self, name: impl Into<String>, sandbox: Sandbox) -> Self {
        let name = name.into();
        self.paths.insert(name.clone(), sandbox.place().to_owned());
        self.sandboxes.insert(name, sandbox);
        self
    }
}

#[async_trait]
impl Workspaces for Directories {
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        self.paths.get(name).cloned().ok_or_else(|| {
            let mut known: Vec<_> = self.paths.keys().cloned().collect();
            known.sort();
            WorkspaceError::Unknown { known }
        })
    }

    async fn changes(&self, name: &str) -> Result<Vec<String>, WorkspaceError> {
        let reason = format!("`{name}` is a plain directory, whose changes nobody keeps track of");
        Err(WorkspaceError::Unusable { reason })
    }

    fn isolation(&self, name: &str) -> IsolationOffer {
        let sandbox = self.sandboxes.get(name);
        sandbox.map_or(IsolationOffer::of(Isolation::Worktree), |sandbox| {
            IsolationOffer::sandboxed(sandbox, Isolation::Worktree)
        })
    }

    fn sandbox(&self, name: &str) -> Result<Option<Sandbox>, WorkspaceError> {
        Ok(self.sandboxes.get(name).cloned())
    }
}
