//! One change at a time to the list of worktrees, between threads and between processes.
//!
//! Git keeps the list as directories below `.git/worktrees`, each written in several steps and read by whoever adds
//! or lists another one. Without a lock, one in some hundred additions reads another's half-written entry.

use std::{
    collections::HashMap,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::git_error::{Doing as _, GitError};
use crate::{untrusted::file::open_to_lock, with_directory::with_directory};

/// How long to wait for another process. Registering takes milliseconds, so this means that one hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// All handles of one repository in this process share a mutex, however often it was opened.
static MUTEXES: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);

#[derive(Debug)]
pub(crate) struct Registration {
    threads: Arc<Mutex<()>>,
    lock_file: PathBuf,
}

/// Held while the list of worktrees is read or changed.
pub(crate) struct RegistrationGuard<'a> {
    _threads: MutexGuard<'a, ()>,
    /// The system releases the lock when the file is closed, also when the process dies.
    _processes: File,
}

impl Registration {
    /// `common_directory` is canonical, so that two handles agree.
    pub(crate) fn of(common_directory: &Path) -> Self {
        let mut mutexes = MUTEXES.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = Arc::clone(mutexes.entry(common_directory.to_owned()).or_default());
        Self { threads, lock_file: private_directory(common_directory).join("registration.lock") }
    }

    pub(crate) fn lock(&self) -> Result<RegistrationGuard<'_>, GitError> {
        let doing = || format!("locking {}", self.lock_file.display());
        // The mutex guards no data that a panic could leave half-changed.
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || open_to_lock(&self.lock_file);
        let file = with_directory(&self.lock_file, open).doing(doing)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(RegistrationGuard { _threads: threads, _processes: file });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(GitError::new(
                        doing(),
                        format!("another process has held it for {} s", PATIENCE.as_secs()),
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(error).doing(doing),
            }
        }
    }
}

/// Where this crate keeps its own files inside `.git`; git ignores it.
pub(crate) fn private_directory(common_directory: &Path) -> PathBuf {
    common_directory.join("interlocking")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_handles_of_one_repository_exclude_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let first = Registration::of(directory.path());
        let second = Registration::of(directory.path());
        let guard = first.lock().unwrap();
        assert!(second.threads.try_lock().is_err());
        drop(guard);
        second.lock().unwrap();
    }

    #[test]
    fn another_process_is_excluded_by_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let registration = Registration::of(directory.path());
        let guard = registration.lock().unwrap();
        // A second open file stands for a second process: such locks belong to the open file.
        let other = File::options().write(true).open(&registration.lock_file).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(guard);
        other.try_lock().unwrap();
    }
}
