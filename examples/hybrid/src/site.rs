//! Finding a place for a run that begins.

use crate::cli::{Location, UsageError, absolute};
use interlocking::cli::{CommandError, private};
use interlocking::run_id::RunId;
use interlocking::worktree::Repository;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where a run takes place.
pub(crate) struct Site {
    /// The run's own directory: worktrees, and the demonstration's repository.
    pub(crate) directory: PathBuf,
    /// What is removed at the end, unless it is to be kept: that directory, or the temporary one around it.
    pub(crate) removed: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) is_demonstration: bool,
}

impl Site {
    /// Makes the run's directory, and nothing in it.
    pub(crate) fn choose(location: &Location, run: &RunId) -> Result<Self, CommandError> {
        let unusable = |path: &Path, reason| UsageError::Unusable { path: path.to_owned(), reason };
        let given = location.repo.as_deref().map(absolute).transpose()?;
        let repository = given.as_ref().map(Repository::open).transpose()?;
        let given_work = location.work_dir.as_deref().map(absolute).transpose()?;
        let work = given_work.clone().unwrap_or_else(std::env::temp_dir);
        if let Some(tree) = repository.as_ref().and_then(Repository::working_tree) {
            refuse_inside(&work, tree)?;
        }
        let (work, temporary) = match given_work {
            Some(work) => {
                private::make_directory(&work).map_err(|reason| unusable(&work, reason))?;
                (work, None)
            }
            None => {
                let made = tempfile::Builder::new().prefix("hybrid-").tempdir();
                // Not removed with this process: the run may go on in another one.
                let made = made.map_err(|reason| unusable(&work, reason))?.keep();
                (made.clone(), Some(made))
            }
        };
        let directory = work.join(run.as_str());
        // What agents are told and do stands in it.
        let made = fs::create_dir(&directory).and_then(|()| private::close_directory(&directory));
        made.map_err(|reason| match reason.kind() {
            io::ErrorKind::AlreadyExists => UsageError::RunExists { path: directory.clone() },
            _ => unusable(&directory, reason),
        })?;
        let target_directory = match &location.target_dir {
            Some(target) => absolute(target)?,
            None => work.join("target"),
        };
        Ok(Self {
            removed: temporary.unwrap_or_else(|| directory.clone()),
            target_directory,
            is_demonstration: given.is_none(),
            repository: given.unwrap_or_else(|| directory.join("repository")),
            directory,
        })
    }

    /// Removes it all: the run does not begin.
    pub(crate) fn give_up(&self) -> Result<(), CommandError> {
        fs::remove_dir_all(&self.removed)
            .map_err(|error| CommandError::from(error).at(self.removed.display().to_string()))
    }
}

/// Worktrees inside the repository would be its files.
fn refuse_inside(work: &Path, repository: &Path) -> Result<(), UsageError> {
    let unusable = |reason| UsageError::Unusable { path: work.to_owned(), reason };
    // The directory may not exist yet; where it would be is told by what exists of the way to it.
    let existing = work.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(work);
    let existing = existing.canonicalize().map_err(unusable)?;
    let tree = repository.canonicalize().map_err(unusable)?;
    if existing.starts_with(&tree) {
        return Err(UsageError::WorkInside { directory: work.to_owned(), repository: repository.to_owned() });
    }
    Ok(())
}

/// Refuses a file that cannot be written. It is made, if it is not there.
pub(crate) fn refuse_unwritable(path: &Path) -> Result<(), UsageError> {
    let opened = private::file_options().create(true).append(true).open(path);
    opened.map(drop).map_err(|reason| UsageError::Unusable { path: path.to_owned(), reason })
}
