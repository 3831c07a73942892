//! The lock of git's list of worktrees, which excludes other threads and other processes.
//!
//! Git keeps the list as directories below `.git/worktrees`, each written in several steps and read by every process
//! that adds or lists a worktree. Without a lock, about one in a hundred additions reads another's half-written entry.

use std::{
    collections::HashMap,
    fs::{File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    filesystem::{own_paths, with_directory::with_directory},
    recovery::process_lock::LockedFile,
    untrusted::file::open_to_lock,
    values::git_error::{Doing as _, GitError},
};

/// How long to wait for another process. Registering takes milliseconds, so a process that holds the lock this long
/// hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// The mutex of each repository: all its handles in this process share it, however often it was opened.
static MUTEXES: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);

#[derive(Debug)]
pub(crate) struct Registration {
    threads: Arc<Mutex<()>>,
    lock_file: PathBuf,
}

/// Held while the list of worktrees is read or changed.
pub(crate) struct RegistrationGuard<'a> {
    lock_file: &'a Path,
    /// The system releases the lock when the file is closed, also when the process dies.
    _processes: LockedFile,
    // Dropped after the file's lock, so that the next thread does not find that lock taken and wait.
    _threads: MutexGuard<'a, ()>,
}

impl Drop for RegistrationGuard<'_> {
    fn drop(&mut self) {
        tidy(self.lock_file);
    }
}

impl Registration {
    /// `common_directory` is canonical, so that two handles of one repository share a mutex.
    pub(crate) fn of(common_directory: &Path) -> Self {
        let mut mutexes = MUTEXES.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = Arc::clone(mutexes.entry(common_directory.to_owned()).or_default());
        Self { threads, lock_file: private_directory(common_directory).join("registration.lock") }
    }

    pub(crate) fn lock(&self) -> Result<RegistrationGuard<'_>, GitError> {
        let doing = || format!("locking {}", self.lock_file.display());
        // The mutex guards no data that a panic could leave half-changed.
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + PATIENCE;
        let mut file = with_directory(&self.lock_file, || open_to_lock(&self.lock_file)).doing(doing)?;
        loop {
            match file.try_lock() {
                Ok(()) if is_at(&file, &self.lock_file) => {
                    let lock = LockedFile::locked(file);
                    return Ok(RegistrationGuard { lock_file: &self.lock_file, _processes: lock, _threads: threads });
                }
                // The process that held the lock has deleted the file.
                Ok(()) => file = with_directory(&self.lock_file, || open_to_lock(&self.lock_file)).doing(doing)?,
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

/// Removes this crate's directory if the lock is free: a process that holds the lock removes the directory when it
/// releases it.
pub(crate) fn tidy_if_free(common_directory: &Path) {
    if has_list(common_directory) {
        return;
    }
    let lock_file = private_directory(common_directory).join("registration.lock");
    let Ok(file) = open_to_lock(&lock_file) else { return };
    if let Ok(held) = LockedFile::take(file)
        && is_at(&held, &lock_file)
    {
        tidy(&lock_file);
    }
}

/// Removes this crate's directory if it is of no more use: there is no worktree but the main one, no operation is under
/// way, and nothing else is kept there. The caller holds the registration lock.
fn tidy(lock_file: &Path) {
    let directory = lock_file.parent().unwrap_or(lock_file);
    if directory.parent().is_some_and(has_list) {
        return;
    }
    let is_gone = |name| match own_paths::remove_dir(directory.join(name)) {
        Err(error) => error.kind() == ErrorKind::NotFound,
        Ok(()) => true,
    };
    if is_gone("notes") && is_gone("pristine") {
        let _ = own_paths::remove_file(lock_file).and_then(|()| own_paths::remove_dir(directory));
    }
}

/// Whether git's list of worktrees exists: git removes it with the last worktree.
fn has_list(common_directory: &Path) -> bool {
    std::fs::symlink_metadata(common_directory.join("worktrees")).is_ok()
}

/// Whether an open file is still the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, there) = (file.metadata().map(number), std::fs::symlink_metadata(path).map(number));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

/// Where this crate keeps its own files inside `.git`; git ignores it.
pub(crate) fn private_directory(common_directory: &Path) -> PathBuf {
    common_directory.join("interlocking")
}

#[cfg(test)]
mod tests {
    use std::fs::File;

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

    /// A lock on a deleted file does not count as the lock, and no file is left in the end.
    #[test]
    fn a_lock_that_is_of_no_more_use_goes() {
        let directory = tempfile::tempdir().unwrap();
        let count = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        // With a mutex of its own, as in another process: only the file excludes it.
                        let registration =
                            Registration { threads: Arc::default(), ..Registration::of(directory.path()) };
                        let guard = registration.lock().unwrap();
                        let before = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        std::thread::yield_now();
                        assert_eq!((before, count.fetch_sub(1, std::sync::atomic::Ordering::SeqCst)), (0, 1));
                        drop(guard);
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);

        std::fs::create_dir(directory.path().join("worktrees")).unwrap();
        let registration = Registration::of(directory.path());
        drop(registration.lock().unwrap());
        assert!(registration.lock_file.exists(), "there are worktrees");
    }
}
