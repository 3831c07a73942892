//! Where a run is, for the process that takes it up: a file beside the journal.
//!
//! What a run has done is in its journal. This is what is true of one machine alone: directories, and who plays the agents. It stays when
//! the run is over, for whoever tries again what failed, or forks it.

use crate::beside::{Beside, gone};
use crate::cli::{Location, Players};
use crate::site::Site;
use interlocking::cli::{CommandError, Exit, Start, Style, private};
use interlocking::run_id::RunId;
use interlocking::runtime::journal::{Entry, Origin};
use interlocking::toolchain::Toolchain;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::PathBuf;

/// Where a run is. All paths are absolute.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Whereabouts {
    /// Whether it has anything on disk: not when it is over, and a fork not before it is taken up.
    pub(crate) is_there: bool,
    /// The run's own directory: worktrees, and the demonstration's repository.
    pub(crate) directory: PathBuf,
    /// What is removed when the run is over: the run's own directory, or the temporary one that was made for it.
    pub(crate) removed: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) is_demonstration: bool,
    /// What was said of all that, for the next time.
    pub(crate) location: Location,
    /// The branch that it began at.
    pub(crate) branch: String,
    /// The one that it advances in its place.
    pub(crate) land_on: Option<String>,
    pub(crate) toolchain: Toolchain,
    pub(crate) players: Players,
    pub(crate) keep: bool,
    /// Where the result is written to, too.
    pub(crate) result: Option<PathBuf>,
    /// What agents keep of their sessions.
    #[serde(skip)]
    pub(crate) agents: PathBuf,
}

impl Whereabouts {
    /// Where its worktrees are.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.directory.join("worktrees")
    }

    /// The branch that it advances.
    pub(crate) fn landing(&self) -> &str {
        self.land_on.as_deref().unwrap_or(&self.branch)
    }

    /// Writes them down, for a run that begins.
    pub(crate) fn write(&self, start: &Start) -> Result<(), CommandError> {
        let beside = beside(start);
        beside.write_new(self).map_err(|error| {
            let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
            let error = CommandError::from(error).at(beside.file().display().to_string());
            if is_taken {
                error.remedy(
                    "there was a run of that name, or one was about to begin when its process ended: choose another \
                     --run-id, or remove the file",
                )
            } else {
                error.with_exit(Exit::Journal)
            }
        })
    }

    /// Those of a run that is taken up; of a fork, what is known of the run whose history it has.
    pub(crate) async fn read(start: &Start) -> Result<Self, CommandError> {
        let mut run = start.run.clone();
        loop {
            if let Some(found) = find(start, &run)? {
                return Ok(if run == start.run { found } else { found.for_fork(start) });
            }
            let first = start.journal.load(&run).await?.into_iter().next();
            match first.map(|record| record.entry) {
                Some(Entry::Started { origin: Some(Origin::Fork { of, .. }), .. }) => run = of,
                _ => break,
            }
        }
        let file = Beside::new(&start.directory, PROGRAM, &run).file();
        let of = if run == start.run { String::new() } else { format!(", a fork of `{run}`") };
        let what = format!("nothing of `{}`{of} is left to take up: where it was is not known any more", start.run);
        let remedy = format!(
            "bring the file back from a copy of the journal's directory, or start it again; a demonstration takes all with \
             it, but for --keep; `hybrid show {}` tells what it did",
            start.run
        );
        Err(CommandError::new(what).at(file.display().to_string()).remedy(remedy))
    }

    /// Those of a run that may be over; none if nothing is known of it.
    pub(crate) fn find(start: &Start) -> Result<Option<Self>, CommandError> {
        find(start, &start.run)
    }

    /// Forgets the runs that are over and that the journal does not have any more.
    pub(crate) async fn forget_removed(start: &Start) -> Result<(), CommandError> {
        for run in Beside::runs(&start.directory, PROGRAM)? {
            let is_over = find(start, &run).is_ok_and(|found| found.is_some_and(|found| !found.is_there));
            if is_over && start.journal.load(&run).await?.is_empty() {
                let beside = Beside::new(&start.directory, PROGRAM, &run);
                remove(beside.forget(), &beside.file())?;
            }
        }
        Ok(())
    }

    /// Those of a fork: where the other run was, with nothing on disk yet.
    fn for_fork(self, start: &Start) -> Self {
        let location = Location { repo: Some(self.repository.clone()), ..self.location };
        let agents = beside(start).directory();
        Self { is_there: false, is_demonstration: false, location, keep: false, result: None, agents, ..self }
    }

    /// Sees that its repository is there.
    pub(crate) fn refuse_gone(&self, start: &Start) -> Result<(), CommandError> {
        if self.repository.is_dir() {
            return Ok(());
        }
        let what = format!("the repository that `{}` worked on is gone", start.run);
        let file = beside(start).file();
        let remedy = match self.is_there || file.exists() {
            true => format!("bring it back, or write where it is now into {}", file.display()),
            false => {
                "bring it back; that of a demonstration is there as long as its run goes on, or was run with --keep"
                    .to_owned()
            }
        };
        Err(CommandError::new(what).at(self.repository.display().to_string()).remedy(remedy))
    }

    /// Finds a place for a run that has nothing on disk.
    pub(crate) fn settle(&mut self, run: &RunId) -> Result<Site, CommandError> {
        let location = Location { repo: Some(self.repository.clone()), ..self.location.clone() };
        let site = Site::choose(&location, run)?;
        (self.directory, self.removed) = (site.directory.clone(), site.removed.clone());
        (self.target_directory, self.is_there) = (site.target_directory.clone(), true);
        Ok(site)
    }

    /// Makes the run's directory again, if somebody has removed it, such as a system that clears temporary directories: what counts is
    /// in the repository.
    pub(crate) fn make_directory(&self) -> Result<(), CommandError> {
        let made = private::close_directory(&self.directory);
        made.map_err(|error| CommandError::from(error).at(self.directory.display().to_string()))
    }

    /// Removes the directory of a run that is over, or says where it is. One that has failed and `may_be_retried` keeps its agents'
    /// sessions.
    pub(crate) fn leave(
        mut self,
        start: &Start,
        is_left_behind: bool,
        may_be_retried: bool,
    ) -> Result<(), CommandError> {
        let beside = beside(start);
        if self.keep || is_left_behind {
            start.console.line(Style::Plain, &format!("Kept        {}", self.directory.display()));
            return self.note(start);
        }
        remove(fs::remove_dir_all(&self.removed), &self.removed)?;
        if self.is_demonstration {
            // Nothing can go on without its repository.
            return remove(beside.forget(), &beside.file());
        }
        self.is_there = false;
        self.note(start)?;
        if may_be_retried { Ok(()) } else { remove(beside.clear(), &beside.directory()) }
    }

    /// Writes them down in place of what is there.
    pub(crate) fn note(&self, start: &Start) -> Result<(), CommandError> {
        let beside = beside(start);
        beside
            .replace(self)
            .map_err(|error| CommandError::from(error).at(beside.file().display().to_string()).with_exit(Exit::Output))
    }

    /// Removes what the run has on disk.
    pub(crate) fn remove_directory(&self) -> Result<(), CommandError> {
        remove(fs::remove_dir_all(&self.removed), &self.removed)
    }

    /// Removes what the run has on disk, and then what was noted of it.
    pub(crate) fn remove(&self, start: &Start) -> Result<(), CommandError> {
        self.remove_directory()?;
        let beside = beside(start);
        remove(beside.forget(), &beside.file())
    }
}

/// The name of what is kept beside the journal.
const PROGRAM: &str = "hybrid";

/// What is kept of a run beside its journal.
pub(crate) fn beside(start: &Start) -> Beside {
    Beside::new(&start.directory, PROGRAM, &start.run)
}

fn find(start: &Start, run: &RunId) -> Result<Option<Whereabouts>, CommandError> {
    let beside = Beside::new(&start.directory, PROGRAM, run);
    let found: Option<Whereabouts> = beside
        .read()
        .map_err(|error| CommandError::from(error).at(beside.file().display().to_string()).with_exit(Exit::Journal))?;
    Ok(found.map(|found| Whereabouts { agents: beside.directory(), ..found }))
}

fn remove(removed: io::Result<()>, path: &std::path::Path) -> Result<(), CommandError> {
    gone(removed).map_err(|error| CommandError::from(error).at(path.display().to_string()).with_exit(Exit::Output))
}
