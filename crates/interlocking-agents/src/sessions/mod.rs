//! Tracks which sessions are in use and where they began: one turn at a time, and always in the same workspace.

pub(crate) mod locked;
pub(crate) mod lost_session;
pub(crate) mod session;
pub(crate) mod state_directory;

mod directory;
mod error;
mod memory;
mod open_directory;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use error::{SessionError, SessionUse};

use crate::sessions::locked::Locked;
use crate::sessions::session::{SessionId, SessionOp};
use directory::Directory;
use memory::{Memory, Used};

/// The sessions of one backend. Clones share the same registry; agents that share a backend's session store (two roles,
/// one program) must share one registry.
///
/// - Two turns never run in one session at the same time. The programs do not refuse that themselves: several processes
///   that resume the same session at once all succeed, but silently corrupt its history.
/// - Forks only read their parent, and only until the child has started. Any number of forks may read at once, but not
///   while a turn runs in the parent, because the fork would inherit an incomplete turn. For the same reason no turn
///   may begin in the parent meanwhile.
/// - A session belongs to the workspace it began in. Continuing it elsewhere is refused, because an agent that
///   remembers one directory while it runs in another edits the wrong one. A fork may go to another workspace.
///
/// A backend whose sessions outlive the process has its registry [in their directory](Self::in_directory), so that
/// these rules hold between processes and after a restart.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    registry: Registry,
}

#[derive(Debug, Clone)]
enum Registry {
    Memory(Arc<Memory>),
    Directory(Arc<Directory>),
}

/// The workspace that a session began in; `None` if it had none.
type Place = Option<PathBuf>;

/// The right to run turns in a session. It is released when it is dropped, whatever the cause (end, failure,
/// cancellation, panic), and when the process ends.
#[derive(Debug)]
pub struct SessionHold {
    sessions: Sessions,
    place: Place,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    turns: Vec<(SessionId, InUse)>,
    fork_of: Option<(SessionId, InUse)>,
}

/// Marks a session as in use until this is dropped.
#[derive(Debug)]
#[expect(dead_code, reason = "what they do, they do when they are dropped")]
enum InUse {
    InProcess(Used),
    AcrossProcesses(Locked),
}

impl Sessions {
    /// An empty registry, for sessions that end with the process.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sessions that a backend keeps in `store`, such as the configuration directory of its program. All processes
    /// that open the same `store` share the guard: a session that is in use in one process is
    /// [busy](SessionError::Busy) in all others until the turn or the process ends, and every process knows the
    /// workspace that the session began in.
    ///
    /// The registry is kept in `store`, in the directory `interlocking-sessions`, which is created when it is first
    /// needed. It has two small files for each session; remove them with the session and not before. The file system
    /// must support locks that belong to open files, as every local one on Linux, macOS and Windows does. Processes on
    /// other machines are not kept out. A hold takes some dozen microseconds.
    pub fn in_directory(store: impl AsRef<Path>) -> Self {
        let store = store.as_ref();
        // The path stays valid if the current directory changes later.
        let store = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
        let directory = Directory::new(store.join("interlocking-sessions"));
        Self { registry: Registry::Directory(Arc::new(directory)) }
    }

    /// Takes hold of the session that `operation` needs, for turns in `workspace`.
    pub fn hold(&self, operation: &SessionOp, workspace: Option<&Path>) -> Result<SessionHold, SessionError> {
        let place = workspace.map(resolved);
        let mut held = Held::default();
        match operation {
            SessionOp::StartFresh(_) => {}
            SessionOp::ContinueFrom(session) => {
                // Only the holder of a session can record its workspace, so the workspace cannot change any more.
                let in_use = self.registry.begin(session, SessionUse::Turn)?;
                if let Some(began_in) = self.registry.place(session)?
                    && began_in != place
                {
                    return Err(SessionError::WrongWorkspace { session: session.clone(), began_in, asked_for: place });
                }
                held.turns.push((session.clone(), in_use));
            }
            SessionOp::ForkFrom { parent, .. } => {
                held.fork_of = Some((parent.clone(), self.registry.begin(parent, SessionUse::Fork)?));
            }
        }
        Ok(SessionHold { sessions: self.clone(), place, held: Mutex::new(held) })
    }

    /// Records the workspace that a session began in, for sessions from before a restart that the registry has not
    /// seen. A workspace that is already recorded is kept.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](SessionError::Unreadable), if the registry is in a directory.
    pub fn record_workspace(&self, session: &SessionId, workspace: Option<&Path>) -> Result<(), SessionError> {
        self.registry.record_workspace(session, &workspace.map(resolved))
    }
}

impl Registry {
    fn begin(&self, session: &SessionId, wanted: SessionUse) -> Result<InUse, SessionError> {
        match self {
            Self::Memory(memory) => memory.begin(session, wanted).map(InUse::InProcess),
            Self::Directory(directory) => directory.begin(session, wanted).map(InUse::AcrossProcesses),
        }
    }

    fn place(&self, session: &SessionId) -> Result<Option<Place>, SessionError> {
        match self {
            Self::Memory(memory) => Ok(memory.place(session)),
            Self::Directory(directory) => directory.place(session),
        }
    }

    fn record_workspace(&self, session: &SessionId, place: &Place) -> Result<(), SessionError> {
        match self {
            Self::Memory(memory) => {
                memory.record_workspace(session, place);
                Ok(())
            }
            Self::Directory(directory) => directory.record_workspace(session, place),
        }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::Memory(Arc::default())
    }
}

impl SessionHold {
    /// Announces the session that the backend has named: it is marked as in use, and its workspace is recorded. A fork then
    /// releases its parent. Repeated calls have no effect.
    pub fn started(&self, session: &SessionId) -> Result<(), SessionError> {
        let mut held = self.held();
        if held.turns.iter().any(|(known, _)| known == session) {
            // The workspace of a continued session from before a restart is the first one in which it is used.
            return self.sessions.registry.record_workspace(session, &self.place);
        }
        if held.fork_of.as_ref().is_some_and(|(parent, _)| parent == session) {
            return Err(SessionError::NotForked { session: session.clone() });
        }
        let in_use = self.sessions.registry.begin(session, SessionUse::Turn)?;
        self.sessions.registry.record_workspace(session, &self.place)?;
        held.fork_of = None;
        held.turns.push((session.clone(), in_use));
        Ok(())
    }

    /// The session that turns run in, once it is known.
    pub fn session(&self) -> Option<SessionId> {
        self.held().turns.last().map(|(session, _)| session.clone())
    }

    /// The state is consistent after every statement, so a poisoned lock can be used.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A canonical path, so that a symlink or a `..` does not make one workspace look like two.
fn resolved(workspace: &Path) -> PathBuf {
    std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned())
}

#[cfg(test)]
mod tests;
