//! One run's worktrees in a yard.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::{
    filesystem::own_paths,
    recovery::process_lock::Held,
    repository::references::{self, MoveError},
    runs::{
        copied_files::copy_listed,
        yard::{Keep, PlaceName, RUN, Yard, YardError},
    },
    untrusted::file::create_new,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
    },
    worktrees::{remove::Force, worktree::Worktree},
};

/// The worktrees of one run. Send and share it; dropped without [`Run::end`], for instance by a panic, the run has
/// failed.
#[derive(Debug)]
pub struct Run {
    yard: Yard,
    directory: PathBuf,
    /// Locked while this process lives; none once the run has ended.
    lock: Option<Held>,
    made: Mutex<Vec<Worktree>>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// Well.
    Succeeded,
    /// Not well.
    Failed,
}

/// What a run left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// The worktrees that were kept, as the yard's settings say.
    pub kept: Vec<PathBuf>,
    /// What lies in the run's directory and is no worktree of the run: it is not touched.
    pub strangers: Vec<PathBuf>,
}

impl Yard {
    /// Begins a run: its directory is made, and is this process's while it lives.
    ///
    /// # Errors
    ///
    /// [`YardError::RunExists`] if there is one of the name, or what is left of one: see [`Yard::orphans`].
    pub fn begin(&self, run: &PlaceName) -> Result<Run, YardError> {
        let directory = self.directory.join(run.as_str());
        let doing = || format!("beginning the run {}", directory.display());
        let _beginning = self.lock()?;
        match own_paths::create_dir(&directory) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(YardError::RunExists { directory });
            }
            made => made.doing(doing)?,
        }
        let file = create_new(&directory.join(RUN)).doing(doing)?;
        let lock = Held::wait_for(file).doing(doing)?;
        Ok(Run { yard: self.clone(), directory, lock: Some(lock), made: Mutex::default() })
    }
}

impl Run {
    /// Where its worktrees are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Creates the branch at `from` and a worktree on it, from a retired one if there is one; copies what is listed to
    /// it, and runs the setup command there.
    ///
    /// # Errors
    ///
    /// See [`YardError`]; branch and worktree are then gone.
    pub fn create_worktree(
        &self,
        place: &PlaceName,
        branch: BranchName,
        from: CommitId,
    ) -> Result<Worktree, YardError> {
        let at = self.directory.join(place.as_str());
        let Yard { repository, pool, .. } = &self.yard;
        let worktree = match pool {
            Some(pool) => pool.create_worktree(at, branch, from)?,
            None => repository.create_worktree(at, branch, from)?,
        };
        match self.make_ready(&worktree) {
            Ok(()) => {
                self.made.lock().unwrap_or_else(PoisonError::into_inner).push(worktree.clone());
                Ok(worktree)
            }
            Err(error) => {
                repository.remove_worktree(&worktree, Force::EvenIfLocked)?.delete()?;
                if let Some(branch) = worktree.branch() {
                    match references::delete(&repository.git(), &branch.full_name(), from.git()) {
                        // The command has committed: that is kept.
                        Ok(()) | Err(MoveError::Moved { .. }) => {}
                        Err(MoveError::Git(error)) => return Err(error.into()),
                    }
                }
                Err(error)
            }
        }
    }

    /// Takes a worktree of this run back to `commit`, as if it had been created there: [`Worktree::reset_to`], then what is
    /// listed is copied to it again and the setup command run.
    ///
    /// # Errors
    ///
    /// See [`YardError`]; what is not committed is gone then too, unless it is a [`YardError::Reset`].
    pub fn reset_worktree(&self, worktree: &Worktree, commit: CommitId) -> Result<(), YardError> {
        worktree.reset_to(commit)?;
        self.make_ready(worktree)
    }

    fn make_ready(&self, worktree: &Worktree) -> Result<(), YardError> {
        let Yard { repository, settings, .. } = &self.yard;
        if let (false, Some(user)) = (settings.copied.is_empty(), repository.working_tree()) {
            copy_listed(user, &worktree.open()?.0, &settings.copied)?;
        }
        if let Some(setup) = &settings.setup {
            setup.run(worktree.path())?;
        }
        Ok(())
    }

    /// Ends the run: its worktrees are kept, or retired, or removed with what is not committed in them, as the yard's
    /// settings say. Branches stay: they are what the run has made.
    ///
    /// # Errors
    ///
    /// The first [`YardError`]; the other worktrees are removed all the same.
    pub fn end(mut self, outcome: RunOutcome) -> Result<RunEnd, YardError> {
        self.finish(outcome)
    }

    fn finish(&mut self, outcome: RunOutcome) -> Result<RunEnd, YardError> {
        let Some(lock) = self.lock.take() else { return Ok(RunEnd::default()) };
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        let keeps = match self.yard.settings.keep {
            Keep::Never => false,
            Keep::OnFailure => outcome == RunOutcome::Failed,
            Keep::Always => true,
        };
        if keeps {
            mark_kept(&lock, &self.directory)?;
            let kept = made.iter().map(|worktree| worktree.path().to_owned()).collect();
            return Ok(RunEnd { kept, strangers: Vec::new() });
        }
        let mut result = Ok(());
        for worktree in made {
            // One that its run has removed is gone.
            if worktree.path().symlink_metadata().is_ok() {
                result = result.and(take_away(&self.yard, &worktree));
            }
        }
        result?;
        Ok(RunEnd { kept: Vec::new(), strangers: close(&self.directory)? })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.finish(RunOutcome::Failed);
    }
}

/// Retires a worktree if there is a pool, and removes it if there is none.
pub(crate) fn take_away(yard: &Yard, worktree: &Worktree) -> Result<(), YardError> {
    match &yard.pool {
        Some(pool) => pool.retire(worktree, Force::DiscardChanges)?.clean().map(drop)?,
        None => yard.repository.remove_worktree(worktree, Force::DiscardChanges)?.delete()?,
    }
    Ok(())
}

pub(crate) fn mark_kept(lock: &File, directory: &Path) -> Result<(), GitError> {
    use std::io::Write as _;
    let mut lock = lock;
    lock.write_all(b"kept\n").doing(|| format!("marking {}", directory.display()))
}

/// Takes away the directory of a run whose worktrees are gone, unless something else is in it, which is returned.
pub(crate) fn close(directory: &Path) -> Result<Vec<PathBuf>, GitError> {
    let doing = || format!("closing {}", directory.display());
    let mut strangers = Vec::new();
    for entry in own_paths::read_dir(directory).doing(doing)? {
        let path = entry.doing(doing)?.path();
        if path.file_name() != Some(RUN.as_ref()) {
            strangers.push(path);
        }
    }
    strangers.sort();
    own_paths::remove_file(directory.join(RUN)).doing(doing)?;
    // With strangers in it, it stays, and is nobody's any more.
    let _ = own_paths::remove_dir(directory);
    Ok(strangers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        repository::{Configuration, Repository},
        runs::yard::YardSettings,
    };

    /// As a process that another thread is just starting has it.
    #[test]
    fn a_run_that_has_ended_is_nobodys_although_a_copy_of_its_lock_is_open() {
        let place = tempfile::tempdir().unwrap();
        let repository = Repository::init_with(place.path().join("project"), Configuration::RepositoryOnly).unwrap();
        let settings = YardSettings { keep: Keep::Always, ..YardSettings::default() };
        let yard = Yard::open(&repository, place.path().join("yard"), settings).unwrap();
        let run = yard.begin(&PlaceName::new("r1").unwrap()).unwrap();
        let copy = run.lock.as_ref().unwrap().try_clone().unwrap();
        assert_eq!(yard.orphans().unwrap().len(), 0, "it lives");
        run.end(RunOutcome::Succeeded).unwrap();
        let found = yard.orphans().unwrap();
        assert_eq!(found.len(), 1);
        drop(found);
        assert_eq!(yard.orphans().unwrap().len(), 1, "who has looked at it has left it");
        drop(copy);
    }
}
