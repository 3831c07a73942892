//! One run of the protocol from start to end: worktrees, graph, and the finaliser that alone may advance `main`.

use crate::graph::Hybrid;
use crate::handlers::result_of;
use crate::places::{PlaceError, Places};
use crate::source::UnreadableMarker;
use crate::spec::Task;
use crate::toolchain::share_dependencies;
use crate::types::{HybridFailure, HybridMemory, HybridResult};
use crate::witness::Witness;
use crate::workbench::Workbench;
use interlocking::agents::{Agent, Ledger};
use interlocking::prelude::*;
use interlocking::runtime::clock::{Clock, CoarseClock};
use interlocking::runtime::journal::{Entry, Journal, MemoryJournal};
use interlocking::runtime::{Cancel, Elapsed, Event, EventSink, StartError};
use interlocking::worktree::{
    BranchName, CommitId, FastForwardError, NameError, OpenError, Repository, Signature, SignatureError,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Everything a run needs to be told.
pub struct Settings {
    /// The task and its toolchain.
    pub task: Task,
    /// The user's repository.
    pub repository: PathBuf,
    /// The branch to start from and to advance.
    pub main: String,
    /// The run's name.
    pub run: RunId,
    /// Where worktrees are made: outside the repository.
    pub directory: PathBuf,
    /// Where builds put their artefacts: one place for all worktrees, so that nothing is compiled twice without need.
    pub target_directory: PathBuf,
    /// Who does the agents' work.
    pub agent: Arc<dyn Agent>,
    /// Who is told what happens.
    pub sink: Arc<dyn EventSink>,
    /// How to stop it.
    pub cancel: Cancel,
    /// Whether the worktrees are left in place, for whoever wants to look.
    pub keep: bool,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ended {
    /// The result, on success and on failure; `None` only if the run was cancelled.
    pub result: Option<HybridResult>,
    /// Where `main` was, and is now: the same unless the run succeeded.
    pub main: (CommitId, CommitId),
    /// Every agent call.
    pub ledger: Ledger,
    /// How long it took.
    pub took: Elapsed,
    /// Worktrees that could not be removed, and why.
    pub left_behind: Option<PlaceError>,
}

/// Why a run could not start. Nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The repository cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The branch's name is none.
    #[error(transparent)]
    Branch(#[from] NameError),
    /// The branch cannot be started from.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A configured stub marker is no Rust expression.
    #[error(transparent)]
    Marker(#[from] UnreadableMarker),
    /// The author's name or address is none.
    #[error(transparent)]
    Author(#[from] SignatureError),
    /// The directory for worktrees cannot be written to.
    #[error("{}: {reason}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        reason: std::io::Error,
    },
    /// The graph lacks something.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Runs the protocol.
///
/// # Errors
///
/// [`SetUpError`] before anything is done; whatever happens later is in the result.
pub async fn run(settings: Settings) -> Result<Ended, SetUpError> {
    let Settings { task, repository, main, run, directory, target_directory, agent, sink, cancel, keep } = settings;
    let clock = CoarseClock;
    let started = clock.now();
    let repository = Repository::open(repository)?;
    let author = Signature::new("Interlocking", "runtime@interlocking.invalid")?;
    let main = BranchName::new(main)?;
    share_dependencies(&directory).map_err(|reason| SetUpError::Directory { path: directory.clone(), reason })?;
    let places = Places::new(repository, main.clone(), run.clone(), directory, author, keep)?;
    let bench = Arc::new(Workbench::new(places.clone(), task.toolchain, target_directory)?);
    let journal = Arc::new(MemoryJournal::new());
    let witness = Arc::new(Witness::default());
    let seen = witness.clone();
    let watched = move |event: Event| {
        seen.see(&event);
        sink.emit(event);
    };
    let report = Run::new(Hybrid::new(&bench))
        .with_id(run.clone())
        .with_agent_for_others(agent)
        .with_workspaces(Arc::new(places.clone()))
        .with_journal(journal.clone())
        .with_events(Arc::new(watched))
        .with_cancel(cancel)
        .start(task.spec.clone())
        .await?;
    let mut result = match report.outcome {
        Outcome::Finished(result) => Some(result),
        // What the nodes gathered until then is in the journal, up to the last outcome that counts.
        Outcome::Failed(failure) => {
            Some(result_of(&task.spec, last_memory(&journal, &run).await, Some(failure.into())))
        }
        _ => None,
    };
    let base = places.base();
    let mut head = base;
    if let Some(result) = &mut result {
        if result.success {
            match places.land().await {
                Ok(landed) => head = landed,
                Err(error) => fail(result, &main, error),
            }
        }
        result.total_cost = report.ledger.total().cost;
        result.witness = witness.account(result);
    }
    let succeeded = result.as_ref().is_some_and(|result| result.success);
    let left_behind = places.close(!succeeded).await.err();
    let took = clock.now().since(started);
    Ok(Ended { result, main: (base, head), ledger: report.ledger, took, left_behind })
}

/// A run whose work cannot be landed has not succeeded, whatever its tests say (CON-71, HY-261).
fn fail(result: &mut HybridResult, main: &BranchName, error: PlaceError) {
    result.success = false;
    result.failure = Some(match error {
        PlaceError::FastForward(FastForwardError::Moved { expected, found, .. }) => HybridFailure::MainMoved {
            branch: main.to_string(),
            expected: expected.to_string(),
            found: found.map_or_else(|| "nothing".to_owned(), |found| found.to_string()),
        },
        error => HybridFailure::NodeFailed {
            failure: Failure {
                node: "exit".to_owned(),
                visit: 0,
                attempt: 0,
                kind: FailureKind::Workspace,
                message: error.to_string(),
                causes: Vec::new(),
            },
        },
    });
}

/// The memory as the last accepted outcome left it.
async fn last_memory(journal: &MemoryJournal, run: &RunId) -> HybridMemory {
    let records = journal.load(run).await.unwrap_or_default();
    let memories = records.into_iter().rev().filter_map(|record| match record.entry {
        Entry::Outcome(outcome) => outcome.memory,
        _ => None,
    });
    let mut parsed = memories.filter_map(|memory| serde_json::from_str(memory.value.json()?).ok());
    parsed.next().unwrap_or_default()
}
