//! The facts that are stored of a run over a repository for the process that resumes it. They hold on one machine only. They are
//! kept when the run is over, so that the run can be retried or forked.

use super::directories::Directories;
use super::options::{AgentOptions, Location};
use super::run_file::RunFile;
use crate::error::CommandError;
use crate::start::Start;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Entry, Origin};
use interlocking_worktree::CommitId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The stored facts of a run. All paths are absolute.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts<M> {
    /// Whether the run has directories on disk. They are removed when the run is over; a fork has none until it is resumed.
    pub(crate) is_there: bool,
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

/// The file of the run that is started or resumed.
pub(crate) fn file(start: &Start) -> RunFile {
    RunFile::new(&start.directory, start.program, &start.run)
}

impl<M: Clone + Serialize + DeserializeOwned> Facts<M> {
    /// Reads the facts of a run that is resumed; for a fork without facts, those of the run from which it was forked.
    pub(crate) async fn read(start: &Start) -> Result<Self, CommandError> {
        let (mut run, program) = (start.run.clone(), start.program);
        loop {
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
        let file = RunFile::new(&start.directory, program, &run).path();
        let of = if run == start.run { String::new() } else { format!(", a fork of `{run}`,") };
        let what = format!(
            "`{}`{of} cannot be resumed: the file that records its repository and directories is gone",
            start.run
        );
        let remedy = format!(
            "bring the file back from a copy of the journal's directory, or start it again; `{program} show {}` tells what \
             it did",
            start.run
        );
        Err(CommandError::new(what).at(file.display().to_string()).remedy(remedy))
    }

    /// The facts of the run itself, which may be over; `None` if there are none.
    pub(crate) fn find(start: &Start) -> Result<Option<Self>, CommandError> {
        file(start).read()
    }

    /// Removes the facts of runs that are over and have been removed from the journal.
    pub(crate) async fn forget_removed(start: &Start) -> Result<(), CommandError> {
        for file in RunFile::all(&start.directory, start.program)? {
            let found = file.read::<Self>();
            let is_over = found.is_ok_and(|found| found.is_some_and(|found| !found.is_there));
            if is_over && start.journal.load(file.run()).await.map_err(CommandError::of_journal)?.is_empty() {
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

    /// Creates directories for a run that has none.
    pub(crate) fn make_directories(&mut self, program: &str, run: &RunId) -> Result<Directories, CommandError> {
        let location = Location { repo: Some(self.repository.clone()), ..self.location.clone() };
        let made = Directories::make(program, &location, run)?;
        (self.directory, self.removed) = (made.own.clone(), made.removed.clone());
        (self.target_directory, self.is_there) = (made.target.clone(), true);
        Ok(made)
    }
}
