//! The named places in which nodes work.

pub(crate) mod isolation_offer;
pub(crate) mod parent_journal;
pub(crate) mod unkept;
pub mod isolation;

use crate::workspaces::isolation_offer::IsolationOffer;
pub use crate::workspaces::parent_journal::ParentJournal;
use async_trait::async_trait;
use interlocking_core::run_id::RunId;
use interlocking_core::table::{Isolation, Table};
use interlocking_sandbox::Sandbox;
use std::any::Any;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// Finds the places that nodes name with `workspace = "name"`.
///
/// A place may come into being while the run goes on: when a node that works there [is about to begin](Self::ready), or when a
/// node that makes worktrees registers them with the value that implements this.
///
/// A handler gets at the run's value with [`RunContext::workspaces`](crate::RunContext::workspaces).
#[async_trait]
pub trait Workspaces: Any + Send + Sync {
    /// The workspaces that this run has for itself; none where it shares these, whose names then mean the same places in every
    /// run that does.
    ///
    /// Asked before a run is started or resumed, of the workspaces that it was given. Of a child run: of its parent's, or of those
    /// that its [item has](crate::nodes::map::Item::with_workspaces).
    fn of_run(&self, run: &RunScope<'_>) -> Option<Arc<dyn Workspaces>> {
        let _ = run;
        None
    }

    /// Makes the place called `name` ready, which may be the moment at which it is made; gives the commit that it begins at, if
    /// the journal is to know it before any node has said that it
    /// [committed](interlocking_core::context::Cx::committed) something there.
    ///
    /// Asked before each execution of a node that names the place. The node fails with the error.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where it cannot be made.
    async fn ready(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        let _ = name;
        Ok(None)
    }

    /// Told that the run has come to rest, of workspaces that [it has for itself](Self::of_run): nobody works there any more. Told
    /// again where a run that has ended is resumed.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where something could not be taken away. The run's outcome stands; the error is logged.
    async fn ended(&self, end: RunEnd) -> Result<(), WorkspaceError> {
        let _ = end;
        Ok(())
    }

    /// The commit that counts in the place called `name`, where the journal is about to be told that `commit` was made there, if that is
    /// another: one that the journal has already and that was made later. Without a word to the contrary, what is recorded last was
    /// made last.
    fn recorded(&self, name: &str, commit: &str) -> Option<String> {
        let _ = (name, commit);
        None
    }

    /// Told the last commit that the journal knows of the place called `name`, of a run that has ended: nobody will work there.
    fn left_at(&self, name: &str, commit: &str) {
        let _ = (name, commit);
    }

    /// Told the first commit that the journal knows of the place called `name`, which is what it was made at; before the place is
    /// [opened](Self::open) or [restored](Self::restore).
    fn began(&self, name: &str, commit: &str) {
        let _ = (name, commit);
    }

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
    /// Asked before a run starts or is resumed, of a place that need not be there yet, for nodes that demand some
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
    /// Asked whenever a fork is resumed, before the place is [opened](Self::open) or [restored](Self::restore), of every place whose
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

    /// Makes the place called `name` known to this process, which resumes a run in which a node has said that it
    /// [committed](interlocking_core::context::Cx::committed) there; `commit` is the last.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where there is no such place any more.
    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let _ = (name, commit);
        Ok(())
    }

    /// The same for a place in which a node was interrupted, which is put back to `commit`: what that node has left there is
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

/// The run that workspaces are asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunScope<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Its table, which names its places.
    pub table: &'a Table,
    /// Whether it begins now for sure: nothing of it can be there yet.
    pub is_new: bool,
    /// Whose child it is, if it is one.
    pub parent: Option<ParentScope<'a>>,
}

/// Whose child a run is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ParentScope<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The place in which the map node works that starts the child.
    pub workspace: Option<&'a str>,
    /// The key of the child's item.
    pub key: &'a str,
    /// The parent's journal, for what the child moves of the parent's.
    pub journal: &'a ParentJournal,
}

/// How a run came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunEnd {
    /// It finished.
    Finished,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It was stopped where it stood, and may be resumed.
    Stopped,
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
