//! Git's lock files, made such that their owner can be determined.
//!
//! Git locks a file by creating another file beside it, with `.lock` appended. Such a lock file stays when its process
//! is killed, and does not say which process made it. This crate makes it as a hard link to a file of its own, which is
//! noted first: as long as that file exists, the lock is this crate's exactly if both are the same file. A lock of
//! another program is never the same file.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    filesystem::own_paths,
    recovery::{
        intent_log::{Intent, Note},
        step,
    },
    untrusted::file::create_new,
};

/// A held lock. Dropping it releases it and leaves the locked file unchanged.
#[derive(Debug)]
pub(crate) struct LockFile {
    resource: PathBuf,
    lock: PathBuf,
    /// The file that the lock is a hard link to; none if the file system has no hard links, and ownership cannot be
    /// proved.
    held: Option<PathBuf>,
    file: File,
    is_released: bool,
}

/// The lock could not be taken.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Another process holds it.
    Busy,
    Failed(std::io::Error),
}

impl LockFile {
    /// Takes the lock of `resource`, waiting up to `patience`. `recover` is called while waiting, since the process
    /// that holds the lock may die.
    pub(crate) fn acquire(
        note: &mut Note,
        resource: &Path,
        patience: Duration,
        recover: impl Fn(),
    ) -> Result<Self, LockError> {
        Self::acquire_by(|held, lock| own_paths::hard_link(held, lock), note, resource, patience, recover)
    }

    /// Like [`LockFile::acquire`], with the function that makes hard links.
    fn acquire_by(
        link: impl Fn(&Path, &Path) -> std::io::Result<()>,
        note: &mut Note,
        resource: &Path,
        patience: Duration,
        recover: impl Fn(),
    ) -> Result<Self, LockError> {
        let mut lock = resource.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let (number, held) = note.next_held();
        let mut file = create_new(&held).map_err(LockError::Failed)?;
        let noted = note.add(&Intent::Lock { lock: lock.clone(), number });
        if let Err(error) = noted {
            let _ = own_paths::remove_file(&held);
            return Err(LockError::Failed(std::io::Error::other(error)));
        }
        step::reached("a lock is announced");
        let mut held = Some(held);
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        loop {
            let taken = match &held {
                Some(held) => link(held, &lock),
                None => create_new(&lock).map(|created| file = created),
            };
            let error = match taken {
                Ok(()) => break,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    recover();
                    if !lock.exists() {
                        continue;
                    }
                    if Instant::now() < deadline {
                        std::thread::sleep(pause);
                        pause = (pause * 2).min(Duration::from_millis(50));
                        continue;
                    }
                    LockError::Busy
                }
                Err(error) if held.is_some() && is_unsupported(&error) => {
                    held.take().map(own_paths::remove_file);
                    continue;
                }
                Err(error) => LockError::Failed(error),
            };
            held.map(own_paths::remove_file);
            return Err(error);
        }
        step::reached("a lock is taken");
        Ok(Self { resource: resource.to_owned(), lock, held, file, is_released: false })
    }

    /// The locked file.
    pub(crate) fn resource(&self) -> &Path {
        &self.resource
    }

    /// Replaces the locked file with what was written into the lock file, and releases the lock.
    pub(crate) fn commit(mut self) -> std::io::Result<()> {
        own_paths::rename(&self.lock, &self.resource)?;
        self.is_released = true;
        step::reached("a locked file is replaced");
        Ok(())
    }
}

impl Write for LockFile {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.file.write(buffer)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if !self.is_released {
            let is_ours = self.held.as_ref().is_none_or(|held| is_same_file(held, &self.lock));
            if is_ours {
                let _ = own_paths::remove_file(&self.lock);
            }
        }
        if let Some(held) = &self.held {
            let _ = own_paths::remove_file(held);
        }
    }
}

/// Whether both paths are of one file. As long as a file has a name, its inode number is not reused.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::symlink_metadata(one), std::fs::symlink_metadata(other)) {
        (Ok(one), Ok(other)) => identity(&one) == identity(&other) && one.is_file(),
        _ => false,
    }
}

fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

fn is_unsupported(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::Unsupported | std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::TooManyLinks
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_released_or_replaces_what_it_locks() {
        let directory = tempfile::tempdir().unwrap();
        let resource = directory.path().join("index");
        let lock = directory.path().join("index.lock");
        std::fs::write(&resource, "old").unwrap();
        let mut note = Note::write(directory.path(), &[]).unwrap();
        let mut take = || LockFile::acquire(&mut note, &resource, Duration::ZERO, || {});
        let mut held = take().unwrap();
        assert!(lock.exists());
        assert!(matches!(take(), Err(LockError::Busy)));
        held.write_all(b"new").unwrap();
        drop(held);
        assert!(!lock.exists());
        assert_eq!(std::fs::read(&resource).unwrap(), b"old");

        let mut held = take().unwrap();
        held.write_all(b"new").unwrap();
        held.commit().unwrap();
        assert!(!lock.exists());
        assert_eq!(std::fs::read(&resource).unwrap(), b"new");
        drop(note);
        assert!(!directory.path().join("interlocking").exists(), "nothing is left");
    }

    /// As on a file system without hard links.
    #[test]
    fn without_hard_links_a_lock_is_waited_for_too() {
        let directory = tempfile::tempdir().unwrap();
        let resource = directory.path().join("index");
        let lock = directory.path().join("index.lock");
        let mut note = Note::write(directory.path(), &[]).unwrap();
        let mut take = |patience, recover: &dyn Fn()| {
            let link = |_: &Path, _: &Path| Err(std::io::ErrorKind::Unsupported.into());
            LockFile::acquire_by(link, &mut note, &resource, patience, recover)
        };
        std::fs::write(&lock, "theirs").unwrap();
        assert!(matches!(take(Duration::ZERO, &|| {}), Err(LockError::Busy)));
        let waits = std::cell::Cell::new(0);
        let release = || {
            waits.set(waits.get() + 1);
            if waits.get() == 3 {
                std::fs::remove_file(&lock).unwrap();
            }
        };
        let held = take(Duration::from_secs(60), &release).unwrap();
        assert_eq!((waits.get(), std::fs::read(&lock).unwrap()), (3, Vec::new()));
        drop(held);
        assert!(!lock.exists());
        drop(note);
        assert!(!directory.path().join("interlocking").exists(), "nothing is left");
    }

    #[test]
    fn somebody_elses_lock_is_never_taken_for_ours() {
        let directory = tempfile::tempdir().unwrap();
        let resource = directory.path().join("index");
        let lock = directory.path().join("index.lock");
        let mut note = Note::write(directory.path(), &[]).unwrap();
        let held = LockFile::acquire(&mut note, &resource, Duration::ZERO, || {}).unwrap();
        // A user deleted this lock by hand, and another program created its own.
        std::fs::remove_file(&lock).unwrap();
        std::fs::write(&lock, "theirs").unwrap();
        drop(held);
        assert_eq!(std::fs::read(&lock).unwrap(), b"theirs");
    }
}
