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
/// A place may be created while the run is in progress: when a node that works there [is about to begin](Self::ready), or when
/// a node that makes worktrees registers them with the value that implements this trait.
///
/// A handler gets the run's workspaces with [`RunContext::workspaces`](crate::RunContext::workspaces).
#[async_trait]
pub trait Workspaces: Any + Send + Sync {
    /// The workspaces that this run has for itself. `None` where it shares these workspaces, whose names then mean the same
    /// places in every run that shares them.
    ///
    /// Called before a run is started or resumed, on the workspaces that it was given. For a child run these are its parent's,
    /// or those that its [item has](crate::nodes::map::Item::with_workspaces).
    fn of_run(&self, run: &RunScope<'_>) -> Option<Arc<dyn Workspaces>> {
        let _ = run;
        None
    }

    /// Makes the place called `name` ready, which may mean to create it. Returns the commit at which the place begins, if the
    /// journal is to know it before any node has said that it [committed](interlocking_core::context::Cx::committed) something
    /// there.
    ///
    /// Called before each execution of a node that names the place. The node fails with the error.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the place cannot be made ready.
    async fn ready(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        let _ = name;
        Ok(None)
    }

    /// Called when the run has come to rest, on workspaces that [it has for itself](Self::of_run): nothing works there any
    /// more, except for an advisory node that goes on after the run's report deadline. If the run was stopped, the futures of other operations may have been dropped before they resolved. Called again
    /// when a run that has ended is resumed.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where something could not be removed. The run's outcome stands; the error is logged.
    async fn ended(&self, end: RunEnd) -> Result<(), WorkspaceError> {
        let _ = end;
        Ok(())
    }

    /// Called when the journal is about to record that `commit` was made in the place called `name`. Returns the commit that
    /// counts there, if it is another one: a commit that the journal has already and that was made later. By default, the commit
    /// that is recorded last counts.
    fn recorded(&self, name: &str, commit: &str) -> Option<String> {
        let _ = (name, commit);
        None
    }

    /// Called with the last commit that the journal has of the place called `name`, of a run that has ended: nothing will work
    /// there.
    fn ended_at(&self, name: &str, commit: &str) {
        let _ = (name, commit);
    }

    /// Called with the first commit that the journal has of the place called `name`, which is the commit that the place was
    /// made at. Called before the place is [opened](Self::open) or [restored](Self::restore).
    fn began_at(&self, name: &str, commit: &str) {
        let _ = (name, commit);
    }

    /// The current path of the place called `name`.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where there is no such place (yet).
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError>;

    /// A description of everything that differs from the place's last recorded state, one line a difference.
    ///
    /// Called before and after a node that is `read_only`; the node fails if the answer changed.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the differences cannot be found out.
    async fn changes(&self, name: &str) -> Result<Vec<String>, WorkspaceError>;

    /// How far the place called `name` isolates an agent from everything outside, on this machine. By default
    /// [`Isolation::Worktree`], the weakest level.
    ///
    /// Called before a run starts or is resumed, for nodes that demand some `isolation`. The place need not exist yet.
    fn isolation(&self, name: &str) -> IsolationOffer {
        let _ = name;
        IsolationOffer::of(Isolation::Worktree)
    }

    /// The sandbox that confines the programs of an agent that works in the place called `name`; `None` where nothing confines
    /// them.
    ///
    /// Called before each turn of an agent whose node demands `isolation = "sandbox"`.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where there is no such place (yet).
    fn sandbox(&self, name: &str) -> Result<Option<Sandbox>, WorkspaceError> {
        let _ = name;
        Ok(None)
    }

    /// Every difference between the place called `name` and the place as it was handed over, one line each: another commit or
    /// branch than expected, a link that leads elsewhere, changes to files that no agent may change.
    ///
    /// Called before an agent starts there, and after its turn has ended, whatever the result. The node fails if there is any
    /// difference.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the differences cannot be found out.
    async fn verify(&self, name: &str, moment: Moment) -> Result<Vec<String>, WorkspaceError> {
        let _ = (name, moment);
        Ok(Vec::new())
    }

    /// The commit at which the place called `name` stands; `None` where it is under no version control, or does not exist yet.
    ///
    /// Called when a run starts, so that the journal knows the commit to put the place back to before any node has said that it
    /// [committed](interlocking_core::context::Cx::committed) something.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the commit cannot be found out.
    async fn commit(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        let _ = name;
        Ok(None)
    }

    /// Makes the place called `name` for a run that is a [fork](crate::journal::fork), at `commit`: the last commit in the
    /// fork's history. Does nothing where the place exists already.
    ///
    /// Called whenever a fork is resumed, for every place whose commit its history has, before the place is
    /// [opened](Self::open) or [restored](Self::restore). The place is the new run's own: the other run continues in its own
    /// place.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the place cannot be made, because the commit is gone for example. By default, that these
    /// workspaces cannot make a place.
    async fn make(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let reason = format!(
            "a fork needs a place of its own, and these workspaces do not say how one is made at {commit}: `Workspaces::make`"
        );
        let _ = name;
        Err(WorkspaceError::Unusable { reason })
    }

    /// Makes the place called `name` known to this process, which resumes a run in which a node has said that it
    /// [committed](interlocking_core::context::Cx::committed) there; `commit` is the last such commit.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the place does not exist any more.
    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let _ = (name, commit);
        Ok(())
    }

    /// The same as [`open`](Self::open), for a place in which a node was interrupted. The place is put back to `commit`: what
    /// that node has left there is removed, including git's locks, which stay when a process is killed during a commit.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError`] where the place cannot be put back.
    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let reason =
            format!("`{name}` cannot be put back to {commit}: it is under no version control that is known here");
        Err(WorkspaceError::Unusable { reason })
    }
}

/// The run whose workspaces are asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunScope<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The run's table, which names its places.
    pub table: &'a Table,
    /// Whether the run certainly begins now: nothing of it can exist yet.
    pub is_new: bool,
    /// The run's parent, if it is a child run.
    pub parent: Option<ParentScope<'a>>,
}

/// The parent of a child run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ParentScope<'a> {
    /// The parent run.
    pub run: &'a RunId,
    /// The place in which the node that runs the child works, if it works in one.
    pub workspace: Option<&'a str>,
    /// The key of the child's item.
    pub key: &'a str,
    /// Whether the parent's table, or that of one of its own parents, demands a sandbox for any node.
    pub demands_a_sandbox: bool,
    /// The parent's journal, to record what the child moves in the parent's places.
    pub journal: &'a ParentJournal,
}

/// How a run came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunEnd {
    /// The run finished.
    Finished,
    /// The run failed.
    Failed,
    /// The run was cancelled.
    Cancelled,
    /// The run stopped without having ended, and may be resumed.
    Stopped,
}

/// When a place is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// An agent is about to start.
    Before,
    /// An agent's turn has ended.
    After,
}

/// A place that is not as it was handed over, before an agent's turn or after it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "workspace `{workspace}` is not as it should be {}:{}{}",
    match moment { Moment::Before => "before its agent starts", Moment::After => "after its agent's turn" },
    findings.iter().map(|finding| format!("\n  {finding}")).collect::<String>(),
    agent.as_ref().map_or_else(String::new, |error| format!("\nthe agent had failed, too: {error}"))
)]
#[non_exhaustive]
pub struct WorkspaceMismatch {
    /// The place.
    pub workspace: String,
    /// When the differences were found.
    pub moment: Moment,
    /// What is wrong, one line each.
    pub findings: Vec<String>,
    /// The error of the agent's turn, if it ended with one.
    pub agent: Option<String>,
}

/// Checks whether the place where an agent works, if it works in one, is as it should be. `agent` is the error of its turn.
pub(crate) async fn verify(
    workspaces: &dyn Workspaces,
    name: Option<&str>,
    moment: Moment,
    agent: Option<String>,
) -> Result<(), WorkspaceError> {
    let Some(name) = name else { return Ok(()) };
    let findings = workspaces.verify(name, moment).await?;
    if findings.is_empty() {
        return Ok(());
    }
    let mismatch = WorkspaceMismatch { workspace: name.to_owned(), moment, findings, agent };
    Err(WorkspaceError::Mismatch(Box::new(mismatch)))
}

/// Why a workspace cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// There is no place of that name.
    #[error("there is no such place; known are: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    Unknown {
        /// The places that are known.
        known: Vec<String>,
    },
    /// The place cannot be used.
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
    /// A place is not as it was handed over.
    #[error(transparent)]
    Mismatch(Box<WorkspaceMismatch>),
    /// The place has no sandbox to confine an agent's programs.
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
    /// Contains no directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.paths.insert(name.into(), path.into());
        self
    }

    /// Adds the [place](Sandbox::place) of `sandbox`, which confines agents to it.
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
        let reason = format!("`{name}` is a plain directory, whose changes are not tracked");
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
