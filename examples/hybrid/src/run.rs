//! One run of the protocol from start to end.

use crate::graph::Hybrid;
use crate::handlers::result_of;
use crate::past::{Past, PastError, last_memory, told};
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
use interlocking::toolchain::{Runner, Unconfined, share_dependencies};
use interlocking::workspaces::{GitWorkspaces, GitWorkspacesError};
use interlocking::worktree::{BranchName, CommitId, GitError, NameError, OpenError, Repository, SignatureError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything a run needs to be told.
pub struct Settings {
    /// The task and its toolchain.
    pub task: Task,
    /// What a run has done that is resumed, that has failed and is to be retried, or whose history a fork has; none of a new one.
    pub past: Option<Past>,
    /// The user's repository.
    pub repository: PathBuf,
    /// The branch to start from and to advance.
    pub main: String,
    /// The branch to advance in place of that one. It has to be where the run began, or is made.
    pub land_on: Option<String>,
    /// The run's name.
    pub run: RunId,
    /// Where worktrees are made: outside the repository.
    pub directory: PathBuf,
    /// Where builds put their artefacts: one place for all worktrees, so that nothing is compiled twice without need.
    pub target_directory: PathBuf,
    /// Who does the agents' work.
    pub roles: Roles,
    /// Who is told what happens.
    pub sink: Arc<dyn EventSink>,
    /// How to stop it.
    pub cancel: CancelToken,
    /// Whether the worktrees are left in place, for whoever wants to look.
    pub keep: bool,
    /// Whether it goes on where this system cannot keep the agents' code in its place while it is built and tested.
    pub accept_weaker_isolation: bool,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ended {
    /// The result, on success and on failure; `None` if the run was cancelled, or stopped before its end.
    pub result: Option<HybridResult>,
    /// Where `main` was, and is now: the same unless the run succeeded.
    pub main: (CommitId, CommitId),
    /// Every agent call.
    pub ledger: Ledger,
    /// How long it took.
    pub took: Elapsed,
    /// What is left of its worktrees although it was to be removed.
    pub left_behind: Option<String>,
}

/// Why a run could not start. Nothing was done, but for [`SetUpError::Past`].
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The repository cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The branch's name is none.
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
        /// Where the branch is; none if it is gone.
        found: Option<CommitId>,
    },
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The run's name is taken, for one.
    #[error(transparent)]
    Workspaces(#[from] GitWorkspacesError),
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
    /// This system cannot confine what agents wrote.
    #[error(transparent)]
    Unconfined(#[from] Unconfined),
    /// The graph lacks something.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run is over, and what it did cannot be read.
    #[error(transparent)]
    Past(#[from] PastError),
}

/// A run that was set up, and what is to be done at its end.
pub struct UnderWay {
    task: Task,
    base: CommitId,
    /// None where they are to be kept.
    workspaces: Option<GitWorkspaces>,
    started: Elapsed,
}

/// Runs the protocol, with a journal in memory.
///
/// # Errors
///
/// [`SetUpError`], all but one before anything is done; whatever happens later is in the result.
pub async fn run(settings: Settings) -> Result<Ended, SetUpError> {
    let (spec, cancel) = (settings.task.spec.clone(), settings.cancel.clone());
    let journal = Arc::new(MemoryJournal::new());
    let (run, under_way) = set_up(settings)?;
    let report = run.with_journal(journal.clone()).with_cancel(cancel).start(spec).await?;
    Ok(under_way.conclude(report, &*journal).await?)
}

/// Makes ready for a run: whoever starts it, or takes it up, gives it a journal, and hands over its report.
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
        workspaces.refuse_taken(&run)?;
    }
    if past.as_ref().is_none_or(|past| past.goes_on) {
        let is_blocked = task.spec.strictness.mutation_blocking;
        let merged = past.as_ref().and_then(|past| Some((past.merged?, past.has_places)));
        let has_landed = |found| match merged {
            // What a fork of a run that has landed adds to that lands nowhere: it has landed where there is nothing to add.
            Some((merged, false)) => found == merged && !is_blocked,
            Some((merged, true)) => repository.is_ancestor(merged, found).unwrap_or(false),
            None => false,
        };
        refuse_moved(&repository, &main, land_on.as_ref(), base, has_landed)?;
    }
    if let Some(branch) = land_on {
        workspaces = workspaces.with_landing(branch);
    }
    let checkouts = workspaces.checkouts_of(&run);
    let share = |directory: &Path| {
        let shared = share_dependencies(directory);
        shared.map_err(|reason| SetUpError::Directory { path: directory.to_owned(), reason })
    };
    if is_new_here {
        share(&directory)?;
    }
    // Also of a run that is resumed: what lies above the checkouts is ours, whoever has written to it since.
    share(&checkouts)?;
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

/// Refuses a branch to land on that is not where the run began, before any agent is asked for anything: whatever the run makes stands on
/// that commit, and is never merged onto another. `has_landed` says of where the branch is whether this run has advanced it to there.
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

/// Takes away what a run has made that is cancelled, and that nobody executes any more. Its commits stay in the archive. Gives what
/// could not be removed, and why.
///
/// # Errors
///
/// [`SetUpError`]; nothing was done.
pub async fn take_away(
    repository: &Path,
    main: &str,
    run: &RunId,
    directory: &Path,
) -> Result<Option<GitWorkspacesError>, SetUpError> {
    let workspaces = workspaces(&Repository::open(repository)?, &BranchName::new(main)?, directory, false)?;
    match workspaces.left_of(run).await? {
        Some(left) => Ok(left.remove().await.err()),
        None => Ok(None),
    }
}

impl UnderWay {
    /// Tells what came of the run, whose end has removed its worktrees. One that has stopped before its end stays as it is, to be taken
    /// up. `journal` is the one that it was given.
    ///
    /// # Errors
    ///
    /// [`PastError`] where what its nodes remember cannot be read: this can be done again.
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
            // What the nodes gathered until then is in the journal, up to the last outcome that counts.
            Outcome::Failed(failure) => {
                let mut result = result_of(&task.spec, memory, Some(failure.into()));
                witness::tell(&mut result, told(journal, &run).await?);
                Some(result)
            }
            _ => None,
        };
        if let Some(result) = &mut result {
            result.total_cost = report.ledger.total().cost;
        }
        let left_behind = match workspaces {
            Some(workspaces) if is_over => left_behind(&workspaces, &run).await,
            _ => None,
        };
        let took = CoarseClock.now().since(started);
        Ok(Ended { result, main: (base, head), ledger: report.ledger, took, left_behind })
    }
}

/// What is left of a run that is over, in words.
async fn left_behind(workspaces: &GitWorkspaces, run: &RunId) -> Option<String> {
    let left = match workspaces.left_of(run).await {
        Ok(left) => left?,
        Err(error) => return Some(error.to_string()),
    };
    // What is in the way of the one is in the way of the other.
    left.remove().await.err().map(|error| error.to_string())
}
