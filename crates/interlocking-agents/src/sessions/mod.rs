//! Which sessions are in use and where they live: one turn at a time, and always in the same workspace.

pub(crate) mod locked;
pub(crate) mod lost_session;
pub(crate) mod session;
pub(crate) mod state_directory;

mod directory;
mod error;
mod memory;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use error::{SessionError, SessionUse};

use crate::sessions::locked::Locked;
use crate::sessions::session::{SessionId, SessionOp};
use directory::Directory;
use memory::{Memory, Used};

/// The sessions of one backend. Clones share the same registry; agents that share a backend's session store (two
/// roles, one program) share one.
///
/// - Two turns never run in one session at the same time. The programs do not refuse that themselves: concurrent
///   resumes of one id all end well and silently mangle the history.
/// - Forks only read their parent, and only until the child has started. Any number may read at once, but not while
///   a turn runs in the parent (its last turn would be inherited half-written), nor may such a turn begin meanwhile.
/// - A session belongs to the workspace it began in. Continuing it elsewhere is refused: an agent that remembers one
///   directory while standing in another edits the wrong one. A fork may go to another workspace.
///
/// A backend whose sessions outlive the process has its registry [in their directory](Self::in_directory), so that all of
/// this holds between processes and after a restart.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    registry: Registry,
}

#[derive(Debug, Clone)]
enum Registry {
    Memory(Arc<Memory>),
    Directory(Arc<Directory>),
}

/// The workspace a session began in; none: it had none.
type Place = Option<PathBuf>;

/// The right to run turns in a session, given back when it is dropped, however that comes about (end, failure,
/// cancellation, panic, and the end of the process).
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

/// A session that is in use while this lives.
#[derive(Debug)]
#[expect(dead_code, reason = "what they do, they do when they are dropped")]
enum InUse {
    Here(Used),
    Everywhere(Locked),
}

impl Sessions {
    /// Nothing in use, nothing known. For sessions that end with the process.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sessions that a backend keeps in `store`, such as the configuration directory of its program. Who opens the same
    /// `store`, in whatever process, shares the guard: a session that is in use in one is [busy](SessionError::Busy) in all
    /// others, until the turn or the process ends, and each remembers where it began.
    ///
    /// That is written down below `store`, in `interlocking-sessions`, which is made when it is first needed: two small files
    /// for each session, to be removed with the session and not before. The file system must have locks that belong to open
    /// files and know no other machine (every local one on Linux, macOS and Windows). A hold takes some dozen microseconds.
    pub fn in_directory(store: impl AsRef<Path>) -> Self {
        let store = store.as_ref();
        // Who changes the current directory later means the same place.
        let store = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
        let directory = Directory::new(store.join("interlocking-sessions"));
        Self { registry: Registry::Directory(Arc::new(directory)) }
    }

    /// Takes hold of what `operation` needs, for turns in `workspace`.
    pub fn hold(&self, operation: &SessionOp, workspace: Option<&Path>) -> Result<SessionHold, SessionError> {
        let place = workspace.map(resolved);
        let mut held = Held::default();
        match operation {
            SessionOp::StartFresh(_) => {}
            SessionOp::ContinueFrom(session) => {
                // A session is tied by those who hold it, so this cannot change any more.
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

    /// Whether a turn runs in the session or a fork of it is starting.
    pub fn is_busy(&self, session: &SessionId) -> bool {
        match &self.registry {
            Registry::Memory(memory) => memory.is_busy(session),
            Registry::Directory(directory) => directory.is_busy(session),
        }
    }

    /// Ties a session to the workspace it began in; for sessions from before a restart, which the registry has not
    /// seen. A tie that exists stays.
    ///
    /// # Errors
    ///
    /// [`Unreadable`](SessionError::Unreadable), of a registry in a directory.
    pub fn tie(&self, session: &SessionId, workspace: Option<&Path>) -> Result<(), SessionError> {
        self.registry.tie(session, &workspace.map(resolved))
    }
}

impl Registry {
    fn begin(&self, session: &SessionId, wanted: SessionUse) -> Result<InUse, SessionError> {
        match self {
            Self::Memory(memory) => memory.begin(session, wanted).map(InUse::Here),
            Self::Directory(directory) => directory.begin(session, wanted).map(InUse::Everywhere),
        }
    }

    fn place(&self, session: &SessionId) -> Result<Option<Place>, SessionError> {
        match self {
            Self::Memory(memory) => Ok(memory.place(session)),
            Self::Directory(directory) => directory.place(session),
        }
    }

    fn tie(&self, session: &SessionId, place: &Place) -> Result<(), SessionError> {
        match self {
            Self::Memory(memory) => {
                memory.tie(session, place);
                Ok(())
            }
            Self::Directory(directory) => directory.tie(session, place),
        }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::Memory(Arc::default())
    }
}

impl SessionHold {
    /// The backend has named the session: from now on it is in use, and tied to the workspace. A fork no longer
    /// needs its parent. Repeating it changes nothing.
    pub fn started(&self, session: &SessionId) -> Result<(), SessionError> {
        let mut held = self.held();
        if held.turns.iter().any(|(known, _)| known == session) {
            // Continuing: a session from before a restart is tied to the first workspace it is seen in.
            return self.sessions.registry.tie(session, &self.place);
        }
        if held.fork_of.as_ref().is_some_and(|(parent, _)| parent == session) {
            return Err(SessionError::NotForked { session: session.clone() });
        }
        let in_use = self.sessions.registry.begin(session, SessionUse::Turn)?;
        self.sessions.registry.tie(session, &self.place)?;
        held.fork_of = None;
        held.turns.push((session.clone(), in_use));
        Ok(())
    }

    /// The session that turns run in, once it has a name.
    pub fn session(&self) -> Option<SessionId> {
        self.held().turns.last().map(|(session, _)| session.clone())
    }

    /// What this guards is whole between two statements, whoever panics.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One spelling per directory, so that a symlink or a `..` on the way makes no second workspace of it.
fn resolved(workspace: &Path) -> PathBuf {
    std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned())
}

#[cfg(test)]
mod tests;
