//! One run of the protocol from start to end: worktrees, graph, and the finaliser that alone may advance `main`.

use crate::graph::Hybrid;
use crate::handlers::result_of;
use crate::past::{Past, PastError, last_memory};
use crate::places::{Ground, Known, Place, PlaceError, Places};
use crate::spec::Task;
use crate::types::{HybridFailure, HybridMemory, HybridResult};
use crate::witness::Witness;
use crate::workbench::Workbench;
use interlocking::agents::Ledger;
use interlocking::prelude::*;
use interlocking::runtime::clock::{Clock, CoarseClock};
use interlocking::runtime::journal::{Journal, MemoryJournal};
use interlocking::runtime::roles::Roles;
use interlocking::runtime::{CancelToken, Elapsed, Event, EventSink, StartError};
use interlocking::rust_source::UnreadableMarker;
use interlocking::toolchain::{Runner, Unconfined, share_dependencies};
use interlocking::worktree::{
    BranchName, CommitId, FastForwardError, NameError, OpenError, Repository, Signature, SignatureError,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything a run needs to be told.
pub struct Settings {
    /// The task and its toolchain.
    pub task: Task,
    /// What a run has done that is taken up again, that has failed and is to be retried, or whose history a fork has; none of a new one.
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
    /// Worktrees that could not be removed, and why.
    pub left_behind: Option<PlaceError>,
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
    /// The branch cannot be started from, or cannot be landed on, or the run's name is taken.
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
    /// This system cannot confine what agents wrote.
    #[error(transparent)]
    Unconfined(#[from] Unconfined),
    /// The graph lacks something.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run is over, and what it did cannot be read. Its worktrees are in place.
    #[error(transparent)]
    Past(#[from] PastError),
}

/// A run that is over cannot be concluded now. Everything is in place; whoever takes the run up can try again.
#[derive(Debug, thiserror::Error)]
pub enum NotConcludedYet {
    /// It succeeded, and somebody is at work on the branch's files.
    #[error("`{main}` cannot be advanced yet: {problem}")]
    Landing {
        /// The branch.
        main: BranchName,
        /// What is in the way.
        problem: Box<PlaceError>,
    },
    /// What it did cannot be read.
    #[error("the run cannot be concluded yet: {0}")]
    Past(#[from] PastError),
}

/// A run that was set up, and what is to be done at its end. One that does not start after all is to be
/// [given up](Self::give_up).
pub struct UnderWay {
    task: Task,
    main: BranchName,
    places: Places,
    witness: Arc<Witness>,
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
    let memory = under_way.memory(&report, &*journal).await?;
    // Nobody can take it up once that journal is gone.
    let landed = under_way.land(&report, &memory).await;
    Ok(under_way.close(report, memory, landed).await)
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
    let checkouts = Places::checkouts_in(&directory);
    let share = |directory: &Path| {
        let shared = share_dependencies(directory);
        shared.map_err(|reason| SetUpError::Directory { path: directory.to_owned(), reason })
    };
    let ground = Ground {
        repository: Repository::open(repository)?,
        main: BranchName::new(main)?,
        land_on: land_on.map(BranchName::new).transpose()?,
        run: run.clone(),
        directory: directory.clone(),
        author: author()?,
        keep,
    };
    let places = match &past {
        Some(past) => past.places(ground)?,
        None => Places::new(ground)?,
    };
    if past.as_ref().is_none_or(|past| !past.has_places) {
        share(&directory)?;
    }
    // Also of a run that is taken up: what lies above the checkouts is ours, whoever has written to it since.
    share(&checkouts)?;
    let runner = if accept_weaker_isolation {
        Runner::with_weaker_isolation(toolchain, &target_directory, &checkouts)
    } else {
        Runner::new(toolchain, &target_directory, &checkouts)?
    };
    let bench = Arc::new(Workbench::new(places.clone(), runner)?);
    let witness = Arc::new(past.map_or_else(Witness::default, |past| Witness::recalling(past.observations)));
    let seen = witness.clone();
    let watched = move |event: Event| {
        seen.see(&event);
        sink.emit(event);
    };
    let run = Run::new(Hybrid::new(&bench))
        .with_id(run)
        .with_roles(roles)
        .with_workspaces(Arc::new(places.clone()))
        .with_events(Arc::new(watched));
    let main = places.landing().clone();
    Ok((run, UnderWay { task, main, places, witness, started }))
}

impl Past {
    /// The places of the run. What it is to land on is looked at before any agent is asked for anything.
    fn places(&self, ground: Ground) -> Result<Places, PlaceError> {
        let places =
            Places::taken_up(ground, Known { base: self.base, skeleton: self.skeleton, is_merged: self.is_merged });
        if !self.has_places {
            places.refuse_taken()?;
        }
        if self.goes_on {
            places.refuse_moved()?;
        }
        Ok(places)
    }
}

/// Takes away what a run has made that is cancelled, and that nobody executes any more. Its commits stay in the archive. Gives what
/// could not be removed, and why.
///
/// # Errors
///
/// [`SetUpError`]; nothing was done.
pub async fn take_away(
    past: &Past,
    repository: &Path,
    main: &str,
    run: RunId,
    directory: PathBuf,
) -> Result<Option<PlaceError>, SetUpError> {
    let (repository, main, author) = (Repository::open(repository)?, BranchName::new(main)?, author()?);
    let ground = Ground { repository, main, land_on: None, run, directory, author, keep: false };
    let places =
        Places::taken_up(ground, Known { base: past.base, skeleton: past.skeleton, is_merged: past.is_merged });
    Ok(places.close(true).await.err())
}

fn author() -> Result<Signature, SignatureError> {
    Signature::new("Interlocking", "runtime@interlocking.invalid")
}

impl UnderWay {
    /// Takes away the places that were made for a run which then could not be taken up: of a [`Past`] without places. What they stood at
    /// is kept as before. Gives what could not be removed, and why.
    pub async fn give_up(self) -> Option<PlaceError> {
        self.places.give_up().await.err()
    }

    /// Ends the run: advances `main`, if it succeeded, and removes the worktrees. One that has stopped before its end stays
    /// as it is, to be taken up. `journal` is the one that it was given.
    ///
    /// # Errors
    ///
    /// [`NotConcludedYet`] where somebody is at work on `main`'s files, or the journal cannot be read: this can be done again.
    pub async fn conclude(self, report: Report<HybridResult>, journal: &dyn Journal) -> Result<Ended, NotConcludedYet> {
        if !has_ended(&report) {
            let Self { places, started, .. } = self;
            places.leave().await;
            let (base, took) = (places.base(), CoarseClock.now().since(started));
            return Ok(Ended { result: None, main: (base, base), ledger: report.ledger, took, left_behind: None });
        }
        let memory = self.memory(&report, journal).await?;
        match self.land(&report, &memory).await {
            Some(Err(problem)) if problem.is_a_lock() => {
                self.places.leave().await;
                Err(NotConcludedYet::Landing { main: self.main, problem: Box::new(problem) })
            }
            landed => Ok(self.close(report, memory, landed).await),
        }
    }

    /// What the run's nodes remember, where its end asks for it. Leaves the places as they are if that cannot be read.
    async fn memory(&self, report: &Report<HybridResult>, journal: &dyn Journal) -> Result<HybridMemory, PastError> {
        if matches!(report.outcome, Outcome::Cancelled) {
            return Ok(HybridMemory::default());
        }
        let memory = last_memory(journal, &report.run).await;
        if memory.is_err() {
            self.places.leave().await;
        }
        memory
    }

    /// Advances `main` to what was merged and validated, if the run has come to that, as it has recorded it: where it had
    /// ended before, and its process was killed, there may be no worktree any more.
    async fn land(&self, report: &Report<HybridResult>, memory: &HybridMemory) -> Option<Result<CommitId, PlaceError>> {
        let has_succeeded = matches!(&report.outcome, Outcome::Finished(result) if result.succeeded());
        if !has_succeeded {
            return None;
        }
        let Some(merged) = memory.merge_commit else {
            return Some(Err(PlaceError::NotOpen { place: Place::Merge.name() }));
        };
        Some(self.places.land(merged).await.map(|()| merged))
    }

    async fn close(
        self,
        report: Report<HybridResult>,
        memory: HybridMemory,
        landed: Option<Result<CommitId, PlaceError>>,
    ) -> Ended {
        let Self { task, main, places, witness, started } = self;
        let mut result = match report.outcome {
            Outcome::Finished(result) => Some(result),
            // What the nodes gathered until then is in the journal, up to the last outcome that counts.
            Outcome::Failed(failure) => Some(result_of(&task.spec, memory, Some(failure.into()))),
            _ => None,
        };
        let base = places.base();
        let mut head = base;
        if let Some(result) = &mut result {
            match landed {
                Some(Ok(landed)) => head = landed,
                Some(Err(error)) => fail(result, &main, error),
                None => {}
            }
            result.total_cost = report.ledger.total().cost;
            result.witness = witness.account(result);
        }
        let succeeded = result.as_ref().is_some_and(HybridResult::succeeded);
        let left_behind = places.close(!succeeded).await.err();
        let took = CoarseClock.now().since(started);
        Ended { result, main: (base, head), ledger: report.ledger, took, left_behind }
    }
}

/// Whether nothing is left to take up.
pub fn has_ended<O>(report: &Report<O>) -> bool {
    matches!(report.outcome, Outcome::Finished(_) | Outcome::Failed(_) | Outcome::Cancelled)
}

/// A run whose work cannot be landed has not succeeded, whatever its tests say (CON-71, HY-261).
fn fail(result: &mut HybridResult, main: &BranchName, error: PlaceError) {
    result.fail(match error {
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
