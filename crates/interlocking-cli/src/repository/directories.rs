//! The directories of a run over a repository.

use super::options::{Location, absolute, unusable};
use crate::error::CommandError;
use interlocking_core::run_id::RunId;
use interlocking_sqlite::private;
use interlocking_worktree::Repository;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directories of a run. All paths are absolute.
#[derive(Clone, Debug)]
pub(crate) struct Directories {
    /// The run's own directory: worktrees, what it keeps, and a repository that was made for it.
    pub(crate) own: PathBuf,
    /// What is removed at the end, unless it is to be kept: that directory, or the temporary one around it.
    pub(crate) removed: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) repository: PathBuf,
}

impl Directories {
    /// Makes the run's directory, and nothing in it. Where no repository is named there is to be one in it.
    pub(crate) fn make(program: &str, location: &Location, run: &RunId) -> Result<Self, CommandError> {
        let given = location.repo.as_deref().map(absolute).transpose()?;
        let repository = given.as_ref().map(Repository::open).transpose()?;
        let given_work = location.work_dir.as_deref().map(absolute).transpose()?;
        let work = given_work.clone().unwrap_or_else(std::env::temp_dir);
        if let Some(tree) = repository.as_ref().and_then(Repository::working_tree) {
            refuse_inside(&work, tree)?;
        }
        let (work, temporary) = match given_work {
            Some(work) => {
                private::make_directory(&work).map_err(|reason| unusable(&work, &reason))?;
                (work, None)
            }
            None => {
                let made = tempfile::Builder::new().prefix(&format!("{program}-")).tempdir();
                // Not removed with this process: the run may go on in another one.
                let made = made.map_err(|reason| unusable(&work, &reason))?.keep();
                (made.clone(), Some(made))
            }
        };
        let own = work.join(run.as_str());
        // What agents are told and do stands in it.
        let made = fs::create_dir(&own).and_then(|()| private::close_directory(&own));
        made.map_err(|reason| match reason.kind() {
            io::ErrorKind::AlreadyExists => CommandError::new(format!(
                "{} exists already, from an earlier run of that name: choose another --run-id or --work-dir, or remove it",
                own.display()
            )),
            _ => unusable(&own, &reason),
        })?;
        Ok(Self {
            removed: temporary.unwrap_or_else(|| own.clone()),
            target: location.target_dir.as_deref().map_or_else(|| Ok(work.join("target")), absolute)?,
            repository: given.unwrap_or_else(|| own.join("repository")),
            own,
        })
    }
}

/// Worktrees inside the repository would be its files.
fn refuse_inside(work: &Path, repository: &Path) -> Result<(), CommandError> {
    // The directory may not exist yet; where it would be is told by what exists of the way to it.
    let existing = work.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(work);
    let existing = existing.canonicalize().map_err(|reason| unusable(work, &reason))?;
    let tree = repository.canonicalize().map_err(|reason| unusable(repository, &reason))?;
    if existing.starts_with(&tree) {
        return Err(CommandError::new(format!(
            "{} lies inside the repository {}: give a --work-dir outside of it",
            work.display(),
            repository.display()
        )));
    }
    Ok(())
}

/// The file that the result is written to, too. One that cannot be written is better known now than after the run; it is made, if it is
/// not there, and what is in it stays until then.
pub(crate) fn result_file(given: Option<&Path>, known: Option<PathBuf>) -> Result<Option<PathBuf>, CommandError> {
    let path = given.map(absolute).transpose()?.or(known);
    if let Some(path) = &path {
        let opened = private::file_options().create(true).append(true).open(path);
        opened.map_err(|reason| unusable(path, &reason))?;
    }
    Ok(path)
}
