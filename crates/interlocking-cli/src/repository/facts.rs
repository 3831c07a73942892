//! The facts that are stored of a run over a repository for the process that resumes it. They hold on one machine only. They are
//! kept when the run is over, so that the run can be retried or forked.

use super::directories::Directories;
use super::marker;
use super::options::{AgentOptions, Location};
use super::run_file::RunFile;
use crate::error::CommandError;
use crate::start::Start;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Entry, JournalError, Origin, RunSummary};
use interlocking_sqlite::private;
use interlocking_worktree::CommitId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The stored facts of a run. All paths are absolute.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts<M> {
    /// Whether the run has directories on disk. They are removed when the run is over; a fork has none until it is resumed.
    pub(crate) is_there: bool,
    /// How many processes have set the run up. By this a process knows whether another has taken the run up since.
    #[serde(default)]
    pub(crate) set_ups: u64,
    /// The run's own directory.
    pub(crate) directory: PathBuf,
    /// The directory that is removed when the run is over: the run's own directory, or the temporary one that was made for it.
    pub(crate) removed: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) repository: PathBuf,
    /// Whether the repository was made for the run, and is removed with it.
    pub(crate) is_demonstration: bool,
    /// The options that named these directories, from which a retry or a fork makes new ones.
    pub(crate) location: Location,
    /// The branch at which the run began.
    pub(crate) branch: String,
    /// The commit at which the run began.
    pub(crate) base: Option<CommitId>,
    /// The branch that the run advances in place of `branch`.
    pub(crate) land_on: Option<String>,
    pub(crate) agents: AgentOptions,
    pub(crate) keep: bool,
    /// The file to which the result is also written.
    pub(crate) result: Option<PathBuf>,
    /// The program's own facts.
    pub(crate) own: M,
}

/// The runs whose files the runs of the journal are resumed by: their own, or those of the runs from which they were forked.
fn needed_files(start: &Start, runs: &[RunSummary]) -> BTreeSet<RunId> {
    let origins: BTreeMap<&RunId, &RunId> = runs
        .iter()
        .filter_map(|summary| match &summary.origin {
            Some(Origin::Fork { of, .. }) => Some((&summary.run, of)),
            _ => None,
        })
        .collect();
    let needed = runs.iter().map(|summary| {
        let has_none = |run: &&RunId| !RunFile::new(&start.directory, start.program, run).path().exists();
        let mut run = &summary.run;
        // The bound stops a circle, of a fork of a fork that took the name of a run that was removed.
        for _ in runs {
            match origins.get(run).filter(|_| has_none(&run)) {
                Some(of) => run = of,
                None => break,
            }
        }
        run.clone()
    });
    needed.collect()
}

/// The file of the run that is started or resumed.
pub(crate) fn file(start: &Start) -> RunFile {
    RunFile::new(&start.directory, start.program, &start.run)
}

impl<M: Clone + Serialize + DeserializeOwned> Facts<M> {
    /// Reads the facts of a run that is resumed; for a fork without facts, those of the run from which it was forked.
    pub(crate) async fn read(start: &Start) -> Result<Self, CommandError> {
        let (mut run, program) = (start.run.clone(), start.program);
        let mut seen = BTreeSet::new();
        while seen.insert(run.clone()) {
            let found: Option<Self> = RunFile::new(&start.directory, program, &run).read()?;
            if let Some(found) = found {
                return Ok(if run == start.run { found } else { found.for_fork() });
            }
            let first = start.journal.load(&run).await.map_err(CommandError::of_journal)?.into_iter().next();
            match first.map(|record| record.entry) {
                Some(Entry::Started { origin: Some(Origin::Fork { of, .. }), .. }) => run = of,
                _ => break,
            }
        }
        let file = RunFile::new(&start.directory, program, &run);
        let of = if run == start.run { String::new() } else { format!(", a fork of `{run}`,") };
        let what = format!(
            "`{}`{of} cannot be resumed: the file that records its repository and directories is gone",
            start.run
        );
        Err(CommandError::new(what).at(file.path().display().to_string()).remedy(file.remedy(&start.run)))
    }

    /// Stores the facts of a new fork, so that it is resumed without those of the run from which it was made. Does nothing
    /// if that run has none.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if they cannot be written.
    pub(crate) async fn store_of_fork(start: &Start) -> Result<(), CommandError> {
        // A process that has resumed the fork meanwhile stores them itself.
        let Ok(_claim) = start.journal.claim(&start.run).await else { return Ok(()) };
        match (Self::find(start)?, Self::read(start).await) {
            (None, Ok(facts)) => file(start).replace(&facts),
            _ => Ok(()),
        }
    }

    /// The facts of the run itself, which may be over; `None` if there are none.
    pub(crate) fn find(start: &Start) -> Result<Option<Self>, CommandError> {
        file(start).read()
    }

    /// Removes the facts of runs that are over and have been removed from the journal, unless a fork needs them.
    pub(crate) async fn forget_removed(start: &Start) -> Result<(), CommandError> {
        let is_over =
            |file: &RunFile| file.read::<Self>().is_ok_and(|found| found.is_some_and(|found| !found.is_there));
        let files = RunFile::all(&start.directory, start.program)?.into_iter().filter(is_over);
        // A run that cannot be read does not keep another from beginning.
        let Ok(runs) = start.journal.runs().await else { return Ok(()) };
        let needed = needed_files(start, &runs);
        for file in files.filter(|file| !needed.contains(file.run())) {
            // Another process may be about to begin a run of that name.
            let claimed = match start.journal.claim(file.run()).await {
                Err(JournalError::Held { .. }) => continue,
                claimed => claimed,
            };
            let _claim = claimed.map_err(CommandError::of_journal)?;
            let is_removed = start.journal.load(file.run()).await.map_err(CommandError::of_journal)?.is_empty();
            if is_removed && is_over(&file) {
                file.forget()?;
            }
        }
        Ok(())
    }

    /// The facts of a fork of this run: the same repository, with no directories yet.
    fn for_fork(self) -> Self {
        let location = Location { repo: Some(self.repository.clone()), ..self.location };
        let (is_there, is_demonstration, keep) = (false, false, false);
        Self { is_there, is_demonstration, keep, location, result: None, ..self }
    }

    /// Fails if the run's repository does not exist.
    pub(crate) fn require_repository(&self, start: &Start) -> Result<(), CommandError> {
        if self.repository.is_dir() {
            return Ok(());
        }
        let what = format!("the repository that `{}` worked on is gone", start.run);
        let file = file(start).path();
        let remedy = match self.is_there || file.exists() {
            true => format!("bring it back, or write where it is now into {}", file.display()),
            false => "bring it back".to_owned(),
        };
        Err(CommandError::new(what).at(self.repository.display().to_string()).remedy(remedy))
    }

    /// Fails if the directories exist, but were not made for the run.
    pub(crate) fn require_made(&self, start: &Start) -> Result<(), CommandError> {
        let Self { directory, removed, .. } = self;
        marker::require(removed, start.program, &start.run)?;
        if directory == removed || directory.parent() == Some(removed) {
            return Ok(());
        }
        marker::require(directory, start.program, &start.run)
    }

    /// Removes the directories of the run.
    pub(crate) fn remove_directories(&self, start: &Start) -> Result<(), CommandError> {
        marker::remove(&self.removed, start.program, &start.run)
    }

    /// Creates the directories again if they are gone: a system may clear temporary directories. Fails if there are
    /// others in their place.
    pub(crate) fn make_again(&self, start: &Start) -> Result<(), CommandError> {
        let Self { directory, removed, .. } = self;
        self.require_made(start)?;
        let mark = || match marker::is_unmade(removed) {
            true => private::make_restricted_directory(removed)
                .and_then(|()| marker::write(removed, start.program, &start.run)),
            false => Ok(()),
        };
        let made = mark().and_then(|()| private::make_restricted_directory(directory));
        made.map_err(|error| CommandError::from(error).at(directory.display().to_string()))
    }

    /// Creates directories for a run that has none.
    pub(crate) fn make_directories(&mut self, program: &str, run: &RunId) -> Result<Directories, CommandError> {
        let location = Location { repo: Some(self.repository.clone()), ..self.location.clone() };
        let made = Directories::make(program, &location, run)?;
        (self.directory, self.removed) = (made.own.clone(), made.removed.clone());
        (self.target_directory, self.is_there) = (made.target.clone(), true);
        Ok(made)
    }
}
