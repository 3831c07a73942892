//! The directory of one call: what a driver writes for an agent's program, such as settings with secrets, and what the
//! program writes for itself.
//!
//! ```text
//! HOME.calls/call-ID        the directory
//! HOME.calls/call-ID.lock   locked as long as the call runs; made before the directory, and removed after it
//! ```
//!
//! `HOME.calls` lies beside the agent's home, because a sandbox may have to be granted the whole home. A driver grants
//! a sandbox the directory of its own call alone, so the agent of another call reads no secret there and changes
//! nothing. An agent without a sandbox can exchange what is in there for links at any time: files are made in
//! directories that are open, under names that are new.
//!
//! A process that is killed leaves directories and locks behind. The next call removes them: nobody holds the locks.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use interlocking_sandbox::deletion::delete_tree;
use interlocking_sandbox::regular_file::{self, Links};
use uuid::Uuid;

use crate::sessions::locked::Locked;
use crate::sessions::state_directory::make_unlinked;

/// What the name of an agent's home is extended by for the directory with the directories of its calls.
const CALLS: &str = "calls";

/// The beginning of the names of these directories.
const PREFIX: &str = "call-";

/// What the names of their locks add.
const LOCK: &str = "lock";

/// The directory of one call. It is deleted when this is dropped.
#[derive(Debug)]
pub(crate) struct CallDirectory {
    /// What the driver has written there.
    written: Vec<File>,
    directory: DeletedDirectory,
    _lock: Lock,
}

impl CallDirectory {
    /// Makes the directory beside an agent's home, which exists, and fills it. `fill` returns the files that it writes.
    /// What ended processes have left behind is deleted.
    pub(crate) fn make(home: &Path, fill: impl FnOnce(&NewDirectory) -> io::Result<Vec<File>>) -> io::Result<Self> {
        let calls = beside(home)?;
        make_unlinked(&calls).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", calls.display())))?;
        delete_abandoned(&calls);
        let (path, lock) = loop {
            let path = calls.join(format!("{PREFIX}{}", Uuid::new_v4().simple()));
            let file = File::create_new(Lock::path(&path))?;
            if let Some(lock) = Lock::of_new(&path, file)? {
                break (path, lock);
            }
        };
        let new = NewDirectory::make(path.clone())?;
        let directory = DeletedDirectory(path);
        Ok(Self { written: fill(&new)?, directory, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for CallDirectory {
    fn drop(&mut self) {
        // Secrets are gone even if the directory cannot be deleted.
        for file in &self.written {
            if let Err(error) = file.set_len(0) {
                tracing::warn!(%error, path = %self.path().display(), "a file of a call cannot be emptied");
            }
        }
    }
}

/// The directory with the directories of the calls of a home. The path is absolute, because programs run in other
/// directories.
fn beside(home: &Path) -> io::Result<PathBuf> {
    let home = home.canonicalize()?;
    match home.file_name() {
        Some(_) => Ok(home.with_added_extension(CALLS)),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "the root directory is no home")),
    }
}

/// A directory that is deleted when this is dropped, whatever a program has made in it.
#[derive(Debug)]
pub(crate) struct DeletedDirectory(PathBuf);

impl DeletedDirectory {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for DeletedDirectory {
    fn drop(&mut self) {
        delete(&self.0);
    }
}

/// The lock of a directory, whose file is removed when this is dropped.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _locked: Locked,
}

impl Lock {
    fn path(directory: &Path) -> PathBuf {
        directory.with_added_extension(LOCK)
    }

    /// The lock of a directory that does not exist yet, whose file is new. None if another call took the file for
    /// abandoned before it was locked, and removed it.
    fn of_new(directory: &Path, file: File) -> io::Result<Option<Self>> {
        let path = Self::path(directory);
        file.lock()?;
        Ok(path.exists().then(|| Self { path, _locked: Locked(file) }))
    }

    /// The lock of a directory whose process has ended. None if the process is alive, or this cannot be determined.
    fn of_abandoned(directory: &Path) -> Option<Self> {
        let path = Self::path(directory);
        // The lock's file may be missing beside a directory: somebody else removed it.
        let is_made = directory.symlink_metadata().is_ok();
        let mut options = File::options();
        let file =
            regular_file::open_with(&path, options.read(true).append(true).create(is_made), Links::Refused).ok()?;
        file.try_lock().ok()?;
        Some(Self { path, _locked: Locked(file) })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "a lock's file is not removed");
        }
    }
}

/// Deletes what processes that have ended left: directories, or what an agent put in their places, and locks.
fn delete_abandoned(calls: &Path) {
    for entry in std::fs::read_dir(calls).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let path = entry.path();
            let directory =
                if path.extension().is_some_and(|end| end == LOCK) { path.with_extension("") } else { path };
            if let Some(_lock) = Lock::of_abandoned(&directory) {
                delete(&directory);
            }
        }
    }
}

/// Deletes a directory, or what an agent put in its place. A link is not followed.
fn delete(directory: &Path) {
    let deleted = match directory.symlink_metadata() {
        Ok(found) if !found.is_dir() => std::fs::remove_file(directory),
        _ => delete_tree(directory),
    };
    if let Err(error) = deleted {
        tracing::warn!(%error, path = %directory.display(), "the directory of a call cannot be deleted");
    }
}

/// A new, open directory for this user alone.
#[derive(Debug)]
pub(crate) struct NewDirectory {
    path: PathBuf,
    #[cfg(unix)]
    open: File,
}

#[cfg(unix)]
impl NewDirectory {
    fn make(path: PathBuf) -> io::Result<Self> {
        std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&path)?;
        Ok(Self { open: crate::sessions::state_directory::open_unlinked(&path)?, path })
    }

    /// Makes a directory in this one.
    pub(crate) fn directory(&self, name: &str) -> io::Result<Self> {
        use rustix::fs::{Mode, mkdirat, openat};
        mkdirat(&self.open, name, Mode::RWXU)?;
        let open = openat(&self.open, name, interlocking_sandbox::deletion::DIRECTORY, Mode::empty())?;
        Ok(Self { open: open.into(), path: self.path.join(name) })
    }

    /// Writes a new file, for this user alone.
    pub(crate) fn write(&self, name: &str, contents: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.open, name, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(contents.as_bytes())?;
        Ok(file)
    }

    /// Makes a link in this directory.
    pub(crate) fn link(&self, name: &str, original: &Path) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(original, &self.open, name)?)
    }
}

#[cfg(not(unix))]
impl NewDirectory {
    fn make(path: PathBuf) -> io::Result<Self> {
        std::fs::create_dir(&path)?;
        Ok(Self { path })
    }

    /// Makes a directory in this one.
    pub(crate) fn directory(&self, name: &str) -> io::Result<Self> {
        Self::make(self.path.join(name))
    }

    /// Writes a new file.
    pub(crate) fn write(&self, name: &str, contents: &str) -> io::Result<File> {
        let mut file = File::create_new(self.path.join(name))?;
        file.write_all(contents.as_bytes())?;
        Ok(file)
    }

    /// Links are not made on this system.
    pub(crate) fn link(&self, _name: &str, _original: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// An agent's home, in a directory that is deleted, and where the directories of its calls are.
    fn home() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let (home, calls) = (directory.path().join("home"), directory.path().join("home.calls"));
        fs::create_dir(&home).unwrap();
        (directory, home, calls)
    }

    fn names(calls: &Path) -> usize {
        fs::read_dir(calls).into_iter().flatten().count()
    }

    #[test]
    fn the_directory_of_a_call_goes_with_it_whatever_is_in_there() {
        let (_directory, home, calls) = home();
        let call = CallDirectory::make(&home, |new| Ok(vec![new.write("secret", "a secret")?])).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&calls), mode(call.path()), mode(&call.path().join("secret"))), (0o700, 0o700, 0o600));
        // As Go's cache of modules, which nobody may write.
        let closed = call.path().join("a/b");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        let kept = home.join("kept");
        fs::rename(call.path().join("secret"), &kept).unwrap();
        drop(call);
        assert_eq!(names(&calls), 0);
        assert_eq!(fs::read_to_string(kept).unwrap(), "", "the secret is gone wherever its file is");
    }

    #[test]
    fn what_a_killed_process_left_is_deleted_and_what_is_in_use_stays() {
        let (_directory, home, calls) = home();
        let used = CallDirectory::make(&home, |new| Ok(vec![new.write("settings", "used")?])).unwrap();
        for (name, has_lock) in [("call-with-lock", true), ("call-without", false)] {
            fs::create_dir_all(calls.join(name).join("deep")).unwrap();
            fs::write(calls.join(name).join("settings"), "a secret").unwrap();
            if has_lock {
                fs::write(calls.join(name).with_added_extension("lock"), "").unwrap();
            }
        }
        // Killed before the directory was made, or after it was deleted.
        fs::write(calls.join("call-before.lock"), "").unwrap();
        // An agent put it in the place of a directory.
        symlink(&home, calls.join("call-link")).unwrap();
        let other = CallDirectory::make(&home, |_| Ok(Vec::new())).unwrap();
        assert_eq!(fs::read_to_string(used.path().join("settings")).unwrap(), "used");
        assert_eq!(names(&calls), 4, "two directories and their locks");
        drop((used, other));
        assert_eq!((names(&calls), home.exists()), (0, true));
    }

    #[test]
    fn a_lock_that_was_taken_for_abandoned_is_not_used() {
        let (_directory, home, _) = home();
        let path = home.join("call-new");
        let file = File::create_new(Lock::path(&path)).unwrap();
        // Another call finds the file before it is locked.
        drop(Lock::of_abandoned(&path).unwrap());
        assert!(Lock::of_new(&path, file).unwrap().is_none());
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let ((directory, home, calls), elsewhere) = (home(), tempfile::tempdir().unwrap());
        let victim = elsewhere.path().join("settings");
        fs::write(&victim, "precious").unwrap();
        let moved = directory.path().join("moved");
        let fill = |new: &NewDirectory| {
            symlink(&victim, new.path.join("settings")).unwrap();
            assert_eq!(new.write("settings", "").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            // Another agent exchanges the directory for a link.
            fs::rename(&new.path, &moved).unwrap();
            symlink(elsewhere.path(), &new.path).unwrap();
            new.directory("made")?.link("link", elsewhere.path())?;
            Ok(vec![new.write("other", "x")?])
        };
        drop(CallDirectory::make(&home, fill).unwrap());
        assert!(moved.join("made/link").exists() && moved.join("other").exists());
        assert_eq!((names(elsewhere.path()), names(&calls)), (1, 0), "the link is deleted, not what it leads to");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        fs::remove_dir_all(&calls).unwrap();
        symlink(elsewhere.path(), &calls).unwrap();
        assert!(CallDirectory::make(&home, |_| Ok(Vec::new())).is_err());
        assert_eq!(names(elsewhere.path()), 1);
    }
}
