//! The sessions of all processes that share a directory.
//!
//! ```text
//! ID.lock     locked while a turn runs in the session (exclusively) or while forks of it start (shared);
//!             contains the id of the process that last locked it
//! ID.place    the workspace that the session began in
//! ```
//!
//! The operating system releases the locks of a process that ends, however it ends. Lock files are never removed: if
//! one process removed a file while another opened it, both could hold a lock of the same session.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use interlocking_sandbox::regular_file::{self, Links};

use super::Place;
use super::error::{SessionError, SessionUse};
use crate::drivers::untrusted_files;
use crate::sessions::locked::Locked;
use crate::sessions::session::SessionId;
use crate::sessions::state_directory::{make_private, refuse_link};

/// The maximum length of a place file: longer than any path.
const LONGEST_PLACE: u64 = 64 * 1024;

/// The contents of the place file of a session without a workspace.
const NOWHERE: &[u8] = b"nowhere\n";
/// The first bytes of any other place file; the workspace's path follows.
const SOMEWHERE: &[u8] = b"in ";

#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Marks the session as in use until the returned lock is dropped.
    pub(super) fn begin(&self, session: &SessionId, wanted: SessionUse) -> Result<Locked, SessionError> {
        let path = self.file(session, "lock");
        let unreadable = |error| unreadable(session, &path, &error);
        let file = self.open(&path).map_err(unreadable)?;
        match lock(&file, wanted) {
            Ok(()) => {
                let locked = Locked(file);
                write_owner(&locked.0).map_err(unreadable)?;
                Ok(locked)
            }
            Err(TryLockError::WouldBlock) => {
                // A shared lock succeeds beside forks, but not beside a turn.
                let used_by = match (wanted, file.try_lock_shared()) {
                    (SessionUse::Turn, Ok(())) => SessionUse::Fork,
                    _ => SessionUse::Turn,
                };
                let busy = SessionError::Busy { session: session.clone(), used_by, process: lock_owner(&file) };
                drop(Locked(file));
                Err(busy)
            }
            Err(TryLockError::Error(error)) => Err(unreadable(error)),
        }
    }

    /// Whether the session is in use. A session counts as in use if this cannot be determined.
    pub(super) fn is_busy(&self, session: &SessionId) -> bool {
        match self.open_existing(&self.file(session, "lock")) {
            Ok(file) => lock(&file, SessionUse::Turn).map(|()| drop(Locked(file))).is_err(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    pub(super) fn place(&self, session: &SessionId) -> Result<Option<Place>, SessionError> {
        let path = self.file(session, "place");
        match refuse_link(&self.path).and_then(|()| untrusted_files::read(&path, LONGEST_PLACE)) {
            // A crash of the machine can leave an empty file.
            Ok(contents) if contents.is_empty() => Ok(None),
            Ok(contents) => match parse(&contents) {
                Some(place) => Ok(Some(place)),
                None => Err(unreadable(
                    session,
                    &path,
                    &io::Error::other("it names no place; remove it to forget where the session began"),
                )),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(session, &path, &error)),
        }
    }

    /// Records the workspace of a session unless one is recorded already. The file gets its name only when it is
    /// complete.
    pub(super) fn record_workspace(&self, session: &SessionId, place: &Place) -> Result<(), SessionError> {
        let path = self.file(session, "place");
        let write = || -> io::Result<()> {
            refuse_link(&self.path)?;
            let is_empty = match std::fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.len() > 0 => return Ok(()),
                Ok(_) => true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(error) => return Err(error),
            };
            make_private(&self.path)?;
            let mut new = tempfile::Builder::new().prefix(".place-").tempfile_in(&self.path)?;
            match place {
                None => new.write_all(NOWHERE)?,
                Some(workspace) => {
                    new.write_all(SOMEWHERE)?;
                    new.write_all(workspace.as_os_str().as_encoded_bytes())?;
                }
            }
            let persisted = if is_empty { new.persist(&path) } else { new.persist_noclobber(&path) };
            match persisted {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
                _ => Ok(()),
            }
        };
        write().map_err(|error| unreadable(session, &path, &error))
    }

    /// An id is not a path and does not begin with a dot, so the result is directly in the directory and not a
    /// temporary file.
    fn file(&self, session: &SessionId, extension: &str) -> PathBuf {
        self.path.join(format!("{session}.{extension}"))
    }

    /// Opens a lock file. An agent may be able to write to the directory, or to replace it. It must not make this process open
    /// files elsewhere.
    fn open(&self, path: &Path) -> io::Result<File> {
        refuse_link(&self.path)?;
        let mut options = options();
        options.create(true).truncate(false);
        match regular_file::open_with(path, &mut options, Links::Refused) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_private(&self.path)?;
                regular_file::open_with(path, &mut options, Links::Refused)
            }
            opened => opened,
        }
    }

    fn open_existing(&self, path: &Path) -> io::Result<File> {
        refuse_link(&self.path)?;
        regular_file::open_with(path, &mut options(), Links::Refused)
    }
}

/// How lock files are opened.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes this process's id over the previous one. The length is always the same.
fn write_owner(mut file: &File) -> io::Result<()> {
    let name = format!("{:010}\n", std::process::id());
    file.write_all(name.as_bytes())
}

/// Tries twice, because another process may hold the lock for a moment only to check it.
fn lock(file: &File, wanted: SessionUse) -> Result<(), TryLockError> {
    let attempt = || match wanted {
        SessionUse::Turn => file.try_lock(),
        SessionUse::Fork => file.try_lock_shared(),
    };
    match attempt() {
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(Duration::from_millis(1));
            attempt()
        }
        done => done,
    }
}

/// The process that last took the lock, if it is alive.
fn lock_owner(file: &File) -> Option<u32> {
    let mut name = String::new();
    file.take(16).read_to_string(&mut name).ok()?;
    let process = name.trim_end().parse().ok()?;
    is_alive(process).then_some(process)
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let id = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // A process of another user must not be signalled, but is alive.
    id.is_some_and(|id| rustix::process::test_kill_process(id) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_alive(_process: u32) -> bool {
    true
}

fn parse(contents: &[u8]) -> Option<Place> {
    if contents == NOWHERE {
        return Some(None);
    }
    let path = contents.strip_prefix(SOMEWHERE).filter(|path| !path.is_empty())?;
    Some(Some(PathBuf::from(spelled(path)?)))
}

#[cfg(unix)]
fn spelled(path: &[u8]) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(path.to_owned()))
}

#[cfg(not(unix))]
fn spelled(path: &[u8]) -> Option<OsString> {
    String::from_utf8(path.to_owned()).ok().map(OsString::from)
}

fn unreadable(session: &SessionId, file: &Path, error: &io::Error) -> SessionError {
    SessionError::Unreadable { session: session.clone(), file: file.to_owned(), reason: error.to_string() }
}
