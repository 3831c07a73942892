//! The directories of a run over a repository.

use super::marker;
use super::options::{Location, absolute, unusable};
use crate::error::CommandError;
use crate::reserved_file::ReservedFile;
use interlocking_core::run_id::RunId;
use interlocking_sqlite::private;
use interlocking_worktree::Repository;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The directories of a run. All paths are absolute.
#[derive(Clone, Debug)]
pub(crate) struct Directories {
    /// The run's own directory, with its worktrees, the result that is kept, and a repository that was made for the run.
    pub(crate) own: PathBuf,
    /// The directory that is removed at the end, unless the user keeps it: `own`, or the temporary directory around it.
    pub(crate) removed: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) repository: PathBuf,
}

impl Directories {
    /// Creates the run's directory, empty. If the location names no repository, the repository's path is inside it.
    pub(crate) fn make(program: &str, location: &Location, run: &RunId) -> Result<Self, CommandError> {
        let Location { repo: given, work_dir: given_work, target_dir, .. } = location.clone().absolute()?;
        let repository = given.as_ref().map(Repository::open).transpose()?;
        let work = match &given_work {
            Some(work) => work.clone(),
            None => absolute(&std::env::temp_dir(), "TMPDIR")?,
        };
        if let Some(tree) = repository.as_ref().and_then(Repository::working_tree) {
            refuse_inside(&work, tree)?;
        }
        let (work, temporary) = match given_work {
            Some(work) => {
                private::make_directory(&work).map_err(|reason| unusable(&work, &reason))?;
                (work, None)
            }
            None => {
                let made = tempfile::Builder::new().prefix(&format!("{program}-")).tempdir_in(&work);
                // Kept when this process ends: another process may resume the run.
                let made = made.map_err(|reason| unusable(&work, &reason))?.keep();
                (made.clone(), Some(made))
            }
        };
        let own = work.join(run.as_str());
        // Private to the user, as it shows what agents are told and do.
        let made = fs::create_dir(&own).and_then(|()| private::make_restricted_directory(&own));
        made.map_err(|reason| match reason.kind() {
            io::ErrorKind::AlreadyExists => CommandError::new(format!(
                "{} exists already, from an earlier run of that name: choose another --run-id or --work-dir, or remove it",
                own.display()
            )),
            _ => unusable(&own, &reason),
        })?;
        let removed = temporary.unwrap_or_else(|| own.clone());
        marker::write(&removed, program, run).map_err(|reason| {
            // Nothing is in it, but the empty directory of the run.
            let _ = fs::remove_dir_all(&removed);
            unusable(&removed, &reason)
        })?;
        Ok(Self {
            removed,
            target: target_dir.unwrap_or_else(|| work.join("target")),
            repository: given.unwrap_or_else(|| own.join("repository")),
            own,
        })
    }
}

/// Refuses a work directory inside the repository, where git would take worktrees for files of the repository.
fn refuse_inside(work: &Path, repository: &Path) -> Result<(), CommandError> {
    // The directory may not exist yet, so its nearest existing ancestor is checked.
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

/// The file to which the result is also written, opened before the run starts. `None` if no path is given or known.
pub(crate) fn result_file(given: Option<&Path>, known: Option<PathBuf>) -> Result<Option<ReservedFile>, CommandError> {
    let Some(path) = given.map(|given| absolute(given, "--result")).transpose()?.or(known) else { return Ok(None) };
    let opened = ReservedFile::open(path.clone()).map_err(|reason| unusable(&path, &reason))?;
    Ok(Some(opened.0))
}

/// Writes a file that only its owner can access. A regular file is replaced as a whole, so that a reader finds the old contents or
/// the new ones.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let is_replaced = match fs::symlink_metadata(path) {
        Ok(found) => found.is_file(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let directory = path.parent().filter(|_| is_replaced);
    // The directory may be one in which the user can write this file only.
    let beside =
        directory.and_then(|directory| tempfile::Builder::new().prefix(".result-").tempfile_in(directory).ok());
    let Some(mut beside) = beside else { return private::write_file(path, text) };
    beside.write_all(text.as_bytes()).and_then(|()| beside.as_file().sync_all())?;
    beside.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_file_is_replaced_and_another_is_written_to() {
        let place = tempfile::tempdir().unwrap();
        let (path, other) = (place.path().join("result.json"), place.path().join("other"));
        fs::write(&path, "old").unwrap();
        fs::hard_link(&path, &other).unwrap();
        write_whole(&path, "new").unwrap();
        assert_eq!([&path, &other].map(|path| fs::read_to_string(path).unwrap()), ["new", "old"]);
        #[cfg(unix)]
        {
            let link = place.path().join("link");
            std::os::unix::fs::symlink(&other, &link).unwrap();
            write_whole(&link, "new").unwrap();
            assert_eq!(fs::read_to_string(&other).unwrap(), "new");
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), if cfg!(unix) { 3 } else { 2 });
    }
}
