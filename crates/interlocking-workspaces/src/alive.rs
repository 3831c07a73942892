//! The lock that shows other processes that this one has a run's workspaces: a file in the run's directory, which the
//! operating system locks until the process ends or releases it. The executor of a run has a shared lock, and whoever
//! looks at what is left of a run has it alone.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::named_branches::unusable;
use interlocking_sandbox::regular_file::{self, Links};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

/// The name of the file, which the process that has the run's workspaces locks.
pub(crate) const ALIVE: &str = ".run";

/// How long a run waits for a program that looks at what is left of it.
const LOOK_TIMEOUT: Duration = Duration::from_secs(3);

/// How long to wait before looking at the lock again.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The locked file. Dropping it unlocks the file, even if a process that another thread is just starting has a copy of
/// the descriptor.
pub(crate) struct Alive(File);

impl Alive {
    /// Locks the file of a run that is worked on, and makes it if it does not exist. The lock is a shared one: the
    /// journal decides who works on a run, and work of an executor that was dropped may still be ending. Whoever has
    /// the lock [alone](Self::alone) is waited for, as it may take only a look. None if it takes longer.
    pub(crate) fn shared(directory: &Path) -> io::Result<Option<Self>> {
        let path = directory.join(ALIVE);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let begun = Instant::now();
        loop {
            let made = fs::create_dir_all(directory);
            let failed = match made.and_then(|()| regular_file::open_with(&path, &mut options, Links::Refused)) {
                Ok(file) => match file.try_lock_shared() {
                    Err(TryLockError::WouldBlock) => None,
                    // In case of an error, the file system has no locks.
                    _ if is_at(&file, &path) => return Ok(Some(Self(file))),
                    // Whoever had the lock has removed the run.
                    _ => None,
                },
                // Whoever has the lock may be removing the directory.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
                    Some(error)
                }
                Err(error) => return Err(error),
            };
            if begun.elapsed() >= LOOK_TIMEOUT {
                return failed.map_or(Ok(None), Err);
            }
            thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Locks the file of a run for the caller alone. None if another process has it locked, or has removed the run.
    ///
    /// # Errors
    ///
    /// The file system has no locks: nobody knows whether a process is working on the run.
    pub(crate) fn alone(file: File, path: &Path) -> io::Result<Option<Self>> {
        Ok((is_taken(file.try_lock())? && is_at(&file, path)).then_some(Self(file)))
    }
}

/// Whether a file was free, and is locked now.
fn is_taken(locked: Result<(), TryLockError>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether an open file is still the one at `path`. A lock of a file that was deleted shows nothing to anybody.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, there) = (file.metadata().map(number), fs::symlink_metadata(path).map(number));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

impl GitRun {
    /// Locks the run's file, which shows other processes that this one has the run's workspaces. Git work.
    pub(crate) fn mark_active(&self) -> Result<(), GitWorkspacesError> {
        let mut alive = self.0.tree.alive.lock().unwrap_or_else(PoisonError::into_inner);
        if alive.is_some() {
            return Ok(());
        }
        let directory = self.tree_directory();
        let locked = Alive::shared(&directory).map_err(|error| unusable(directory.join(ALIVE), &error))?;
        *alive = Some(locked.ok_or_else(|| GitWorkspacesError::LookedAt { run: self.0.names.root.clone() })?);
        Ok(())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_over_is_found_although_a_copy_of_its_lock_is_open() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(ALIVE);
        let file = File::create(&path).unwrap();
        file.try_lock().unwrap();
        // Like the copy in a process that another thread is just starting.
        let copy = file.try_clone().unwrap();
        let alive = Alive(file);
        assert!(File::open(&path).unwrap().try_lock().is_err());
        drop(alive);
        File::open(&path).unwrap().try_lock().unwrap();
        drop(copy);
    }

    #[test]
    fn the_lock_of_a_file_that_was_deleted_does_not_count() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(ALIVE);
        let deleted = File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let alone = |file| Alive::alone(file, &path).unwrap();
        assert!(alone(deleted.try_clone().unwrap()).is_none());
        let file = File::create(&path).unwrap();
        assert!(alone(deleted).is_none());
        let locked = alone(file).unwrap();
        assert!(alone(File::open(&path).unwrap()).is_none(), "it is locked");
        drop(locked);
    }

    #[test]
    fn a_run_is_worked_on_only_where_its_file_is_locked() {
        assert!(is_taken(Ok(())).unwrap());
        assert!(!is_taken(Err(TryLockError::WouldBlock)).unwrap());
        let without_locks = io::Error::from(io::ErrorKind::Unsupported);
        assert_eq!(is_taken(Err(TryLockError::Error(without_locks))).unwrap_err().kind(), io::ErrorKind::Unsupported);
    }
}
