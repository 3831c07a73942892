//! One run of the protocol from start to end.

use crate::graph::Hybrid;
use crate::handlers::{add_report, result_of};
use crate::past::{Past, PastError, last_memory, last_report, observations};
use crate::places::{beginning_at, workspaces};
use crate::spec::Task;
use crate::types::{HybridMemory, HybridResult};
use crate::witness;
use crate::workbench::{RunPlaces, Workbench};
use interlocking::agents::Ledger;
use interlocking::cli::repository::has_ended;
use interlocking::prelude::*;
use interlocking::runtime::clock::{Clock, CoarseClock};
use interlocking::runtime::journal::{Journal, MemoryJournal};
use interlocking::runtime::roles::Roles;
use interlocking::runtime::{CancelToken, Elapsed, EventSink, StartError};
use interlocking::rust_source::UnreadableMarker;
use interlocking::toolchain::{Runner, Unconfined};
use interlocking::workspaces::{GitWorkspaces, GitWorkspacesError};
use interlocking::worktree::{BranchName, CommitId, GitError, NameError, OpenError, Repository, SignatureError};
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a run.
pub struct Settings {
    /// The task and its toolchain.
    pub task: Task,
    /// What a run has already done that is resumed, or has failed and is retried, or whose history a fork has; none for a new
    /// run.
    pub past: Option<Past>,
    /// The user's repository.
    pub repository: PathBuf,
    /// The branch to start from and to advance.
    pub main: String,
    /// The branch to advance in place of that one. It has to be where the run began, or is created.
    pub land_on: Option<String>,
    /// The run's name.
    pub run: RunId,
    /// Where worktrees are made: outside the repository.
    pub directory: PathBuf,
    /// Where builds put their artefacts: one place for all worktrees, so that nothing is compiled twice without need.
    pub target_directory: PathBuf,
    /// The directory of the journal, if it has one: no change of a file there lands.
    pub journal: Option<PathBuf>,
    /// The agents of the roles.
    pub roles: Roles,
    /// The listener for events.
    pub sink: Arc<dyn EventSink>,
    /// How to stop it.
    pub cancel: CancelToken,
    /// Whether the worktrees are left in place, for inspection.
    pub keep: bool,
    /// Whether it goes on if this system cannot confine the agents' code while it is built and tested.
    pub accept_weaker_isolation: bool,
}

/// The end of a run.
#[derive(Debug)]
pub struct Ended {
    /// The result, on success and on failure; `None` if the run was cancelled, or stopped before its end.
    pub result: Option<HybridResult>,
    /// The head of `main` at the start and at the end: the same unless the run succeeded.
    pub main: (CommitId, CommitId),
    /// Every agent call.
    pub ledger: Ledger,
    /// How long it took.
    pub took: Elapsed,
    /// Remains of its worktrees that could not be removed.
    pub left_behind: Option<String>,
}

/// Why a run could not start. Nothing was done, except for [`SetUpError::Past`].
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The repository cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The branch's name is not valid.
    #[error(transparent)]
    Branch(#[from] NameError),
    /// The main branch does not exist.
    #[error("the repository has no branch `{branch}` with a commit: commit something to it first")]
    NoMain {
        /// The branch.
        branch: BranchName,
    },
    /// The branch to land on is not where the run began.
    #[error(
        "the run began at {base}, and {branch} {}: what the run makes could not be landed there; have it land on another branch",
        found.map_or_else(|| "is gone".to_owned(), |found| format!("is at {found} now"))
    )]
    CannotLand {
        /// The branch.
        branch: BranchName,
        /// Where the run began.
        base: CommitId,
        /// The head of the branch; none if it is gone.
        found: Option<CommitId>,
    },
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The run's name is taken, for example.
    #[error(transparent)]
    Workspaces(#[from] GitWorkspacesError),
    /// A configured stub marker is not a Rust expression.
    #[error(transparent)]
    Marker(#[from] UnreadableMarker),
    /// The author's name or address is not valid.
    #[error(transparent)]
    Author(#[from] SignatureError),
    /// This system cannot confine the agents' code.
    #[error(transparent)]
    Unconfined(#[from] Unconfined),
    /// The run lacks something that the graph needs.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run is over, and what it did cannot be read.
    #[error(transparent)]
    Past(#[from] PastError),
}

/// A run that was set up, and what has to be done at its end.
pub struct UnderWay {
    task: Task,
    base: CommitId,
    /// None if they are to be kept, or another process has taken the run up.
    workspaces: Option<GitWorkspaces>,
    started: Elapsed,
}

/// Runs the protocol, with a journal in memory.
///
/// # Errors
///
/// [`SetUpError`], all but one before anything is done; later failures are in the result.
pub async fn run(settings: Settings) -> Result<Ended, SetUpError> {
    let (spec, cancel) = (settings.task.spec.clone(), settings.cancel.clone());
    let journal = Arc::new(MemoryJournal::new());
    let (run, under_way) = set_up(settings)?;
    let report = run.with_journal(journal.clone()).with_cancel(cancel).start(spec).await?;
    Ok(under_way.conclude(report, &*journal).await?)
}

/// Sets a run up: the caller starts or resumes it with a journal, and passes its report to [`UnderWay::conclude`].
///
/// # Errors
///
/// [`SetUpError`]; nothing was done.
pub fn set_up(settings: Settings) -> Result<(Run<Hybrid>, UnderWay), SetUpError> {
    let Settings {
        task,
        past,
        repository,
        main,
        land_on,
        run,
        directory,
        target_directory,
        journal,
        roles,
        sink,
        keep,
        accept_weaker_isolation,
        ..
    } = settings;
    let (started, toolchain) = (CoarseClock.now(), task.toolchain.clone());
    let repository = Repository::open(repository)?;
    let (main, land_on) = (BranchName::new(main)?, land_on.map(BranchName::new).transpose()?);
    let base = match &past {
        Some(past) => past.base,
        None => repository.branch_head(&main)?.ok_or_else(|| SetUpError::NoMain { branch: main.clone() })?,
    };
    let mut workspaces = beginning_at(workspaces(&repository, &main, &directory, keep)?, base);
    let is_new_here = past.as_ref().is_none_or(|past| !past.has_places);
    if is_new_here {
        workspaces.ensure_name_is_free(&run)?;
    }
    if past.as_ref().is_none_or(|past| past.goes_on) {
        let is_blocked = task.spec.strictness.mutation_blocking;
        let merged = past.as_ref().and_then(|past| Some((past.merged?, past.has_places)));
        let has_landed = |found| match merged {
            // A fork of a run that has landed counts as landed only if it has nothing to add.
            Some((merged, false)) => found == merged && !is_blocked,
            Some((merged, true)) => repository.is_ancestor(merged, found).unwrap_or(false),
            None => false,
        };
        refuse_moved(&repository, &main, land_on.as_ref(), base, has_landed)?;
    }
    if let Some(branch) = land_on {
        workspaces = workspaces.with_landing(branch);
    }
    if let Some(journal) = journal {
        workspaces = workspaces.with_reserved_directory(journal);
    }
    let checkouts = workspaces.checkouts_of(&run);
    let runner = Runner::with_weaker_isolation_if(toolchain, &target_directory, &checkouts, accept_weaker_isolation)?;
    let places = RunPlaces { run: run.clone(), workspaces: workspaces.clone(), base };
    let bench = Arc::new(Workbench::new(repository, places, runner, &task)?);
    let run = Run::new(Hybrid::new(&bench))
        .with_id(run)
        .with_roles(roles)
        .with_workspaces(Arc::new(workspaces.clone()))
        .with_report_deadline(task.mutation_deadline)
        .with_events(sink);
    let workspaces = Some(workspaces).filter(|_| !keep);
    Ok((run, UnderWay { task, base, workspaces, started }))
}

/// Refuses a branch to land on that is not where the run began, before any agent is asked for anything: the run's commits are
/// based on that commit, and are never merged onto another. `has_landed` tells whether this run has advanced the branch to its
/// current head.
fn refuse_moved(
    repository: &Repository,
    main: &BranchName,
    land_on: Option<&BranchName>,
    base: CommitId,
    has_landed: impl Fn(CommitId) -> bool,
) -> Result<(), SetUpError> {
    let branch = land_on.unwrap_or(main);
    match repository.branch_head(branch)? {
        Some(at) if at == base || has_landed(at) => Ok(()),
        None if land_on.is_some() => Ok(()),
        found => Err(SetUpError::CannotLand { branch: branch.clone(), base, found }),
    }
}

impl UnderWay {
    /// At the end of the run, leaves its worktrees alone: another process has taken the run up.
    #[must_use]
    pub fn leaving_worktrees(self) -> Self {
        Self { workspaces: None, ..self }
    }

    /// Makes the end of the run, whose worktrees were removed when it ended. A run that has stopped before its end stays as it
    /// is, to be resumed. `journal` is the run's journal.
    ///
    /// # Errors
    ///
    /// [`PastError`] if its nodes' memory or a report cannot be read: call this again.
    pub async fn conclude(self, report: Report<HybridResult>, journal: &dyn Journal) -> Result<Ended, PastError> {
        let Self { task, base, workspaces, started } = self;
        let (is_over, run) = (has_ended(&report), report.run);
        let memory = match &report.outcome {
            Outcome::Failed(_) => last_memory(journal, &run).await?,
            _ => HybridMemory::default(),
        };
        let mut head = base;
        let mut result = match report.outcome {
            Outcome::Finished(result) => {
                head = result.merge_commit.filter(|_| result.succeeded()).unwrap_or(base);
                Some(result)
            }
            // The results of the nodes until then are in the journal, up to the last accepted outcome.
            Outcome::Failed(failure) => {
                let mut result = result_of(&task.spec, memory, Some(failure.into()));
                if let Some(report) = last_report(journal, &run).await? {
                    add_report(&mut result, report);
                }
                witness::add_account(&mut result, observations(journal, &run).await?);
                Some(result)
            }
            _ => None,
        };
        if let Some(result) = &mut result {
            result.total_cost = report.ledger.total().cost;
        }
        let left_behind = match workspaces {
            Some(workspaces) if is_over => {
                workspaces.remove_leftover_of(&run).await.err().map(|error| error.to_string())
            }
            _ => None,
        };
        let took = CoarseClock.now().since(started);
        Ok(Ended { result, main: (base, head), ledger: report.ledger, took, left_behind })
    }
}
