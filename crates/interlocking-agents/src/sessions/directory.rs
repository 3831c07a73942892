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
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::Place;
use super::error::{SessionError, SessionUse};
use super::open_directory::OpenDirectory;
use crate::sessions::locked::Locked;
use crate::sessions::session::SessionId;

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
        let name = lock_name(session);
        let unreadable = |error| self.unreadable(session, &name, &error);
        let file =
            OpenDirectory::make(&self.path).and_then(|directory| directory.file_or_new(&name)).map_err(unreadable)?;
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

    pub(super) fn place(&self, session: &SessionId) -> Result<Option<Place>, SessionError> {
        let name = place_name(session);
        match OpenDirectory::open(&self.path).and_then(|directory| directory.read(&name, LONGEST_PLACE)) {
            // A crash of the machine can leave an empty file.
            Ok(contents) if contents.is_empty() => Ok(None),
            Ok(contents) => match parse(&contents) {
                Some(place) => Ok(Some(place)),
                None => Err(self.unreadable(
                    session,
                    &name,
                    &io::Error::other("it names no place; remove it to forget where the session began"),
                )),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(session, &name, &error)),
        }
    }

    /// Records the workspace of a session unless one is recorded already.
    pub(super) fn record_workspace(&self, session: &SessionId, place: &Place) -> Result<(), SessionError> {
        let name = place_name(session);
        let write = || -> io::Result<()> {
            let directory = OpenDirectory::make(&self.path)?;
            let length = directory.length(&name)?;
            if length.is_some_and(|length| length > 0) {
                return Ok(());
            }
            directory.write(&name, &spelling(place), length.is_some())
        };
        write().map_err(|error| self.unreadable(session, &name, &error))
    }

    fn unreadable(&self, session: &SessionId, name: &str, error: &io::Error) -> SessionError {
        SessionError::Unreadable { session: session.clone(), file: self.path.join(name), reason: error.to_string() }
    }
}

/// An id is not a path and does not begin with a dot, so the file is directly in the directory and not an incomplete one.
fn lock_name(session: &SessionId) -> String {
    format!("{session}.lock")
}

fn place_name(session: &SessionId) -> String {
    format!("{session}.place")
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

/// The contents of a place file.
fn spelling(place: &Place) -> Vec<u8> {
    match place {
        None => NOWHERE.to_vec(),
        Some(workspace) => [SOMEWHERE, workspace.as_os_str().as_encoded_bytes()].concat(),
    }
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
