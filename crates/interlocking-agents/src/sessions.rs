//! Which sessions are in use and where they live: one turn at a time, and always in the same workspace.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::session::{SessionId, SessionOp};

/// The sessions of one backend. Clones share the same registry; agents that share a backend's session store (two
/// roles, one program) share one.
///
/// - Two turns never run in one session at the same time. The programs do not refuse that themselves: concurrent
///   resumes of one id all end well and silently mangle the history.
/// - Forks only read their parent, and only until the child has started. Any number may read at once, but not while
///   a turn runs in the parent (its last turn would be inherited half-written), nor may such a turn begin meanwhile.
/// - A session belongs to the workspace it began in. Continuing it elsewhere is refused: an agent that remembers one
///   directory while standing in another edits the wrong one. A fork may go to another workspace.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    uses: HashMap<SessionId, Use>,
    homes: HashMap<SessionId, Option<PathBuf>>,
}

#[derive(Debug)]
enum Use {
    Turn,
    /// This many forks still read the session.
    Forks(usize),
}

/// The right to run turns in a session, given back when it is dropped, however that comes about (end, failure,
/// cancellation, panic).
#[derive(Debug)]
pub struct SessionHold {
    sessions: Sessions,
    workspace: Option<PathBuf>,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    turns: Vec<SessionId>,
    fork_of: Option<SessionId>,
}

/// What keeps a session busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionUse {
    /// A turn runs in it. Two turns at once are a mistake in whoever asks, so trying again is no remedy.
    Turn,
    /// A fork of it is starting, which is over in a moment.
    Fork,
}

/// Why a session cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionError {
    /// Somebody else uses it right now.
    #[error("session `{session}` is busy: {used_by}; two turns at once would mangle its history")]
    Busy {
        /// The session asked for (the parent, for a fork).
        session: SessionId,
        /// What it is used for.
        used_by: SessionUse,
    },
    /// It began in another workspace.
    #[error(
        "session `{session}` began {}, it cannot be continued {}; fork it, or start a fresh one",
        place(began_in.as_deref()), place(asked_for.as_deref())
    )]
    WrongWorkspace {
        /// The session asked for.
        session: SessionId,
        /// Where it began.
        began_in: Option<PathBuf>,
        /// The workspace of the refused turn.
        asked_for: Option<PathBuf>,
    },
    /// The backend has no such session.
    #[error("there is no session `{session}`")]
    Unknown {
        /// The session asked for.
        session: SessionId,
    },
    /// The backend was asked to fork and went on in the parent instead.
    #[error("asked to fork session `{session}`, the agent continued it instead")]
    NotForked {
        /// The parent.
        session: SessionId,
    },
}

impl Sessions {
    /// Nothing in use, nothing known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes hold of what `operation` needs, for turns in `workspace`.
    pub fn hold(&self, operation: &SessionOp, workspace: Option<&Path>) -> Result<SessionHold, SessionError> {
        let workspace = workspace.map(resolved);
        let mut state = self.state();
        let mut held = Held { turns: Vec::new(), fork_of: None };
        match operation {
            SessionOp::StartFresh(_) => {}
            SessionOp::ContinueFrom(session) => {
                if let Some(began_in) = state.homes.get(session)
                    && *began_in != workspace
                {
                    return Err(SessionError::WrongWorkspace {
                        session: session.clone(),
                        began_in: began_in.clone(),
                        asked_for: workspace,
                    });
                }
                state.begin_turn(session)?;
                held.turns.push(session.clone());
            }
            SessionOp::ForkFrom { parent, .. } => {
                state.begin_fork(parent)?;
                held.fork_of = Some(parent.clone());
            }
        }
        drop(state);
        Ok(SessionHold { sessions: self.clone(), workspace, held: Mutex::new(held) })
    }

    /// Whether a turn runs in the session or a fork of it is starting.
    pub fn is_busy(&self, session: &SessionId) -> bool {
        self.state().uses.contains_key(session)
    }

    /// Ties a session to the workspace it began in; for sessions from before a restart, which the registry has not
    /// seen. A tie that exists stays.
    pub fn tie(&self, session: SessionId, workspace: Option<&Path>) {
        let workspace = workspace.map(resolved);
        self.state().homes.entry(session).or_insert(workspace);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl State {
    fn begin_turn(&mut self, session: &SessionId) -> Result<(), SessionError> {
        match self.uses.entry(session.clone()) {
            Entry::Vacant(free) => {
                free.insert(Use::Turn);
                Ok(())
            }
            Entry::Occupied(used) => {
                let used_by = match used.get() {
                    Use::Turn => SessionUse::Turn,
                    Use::Forks(_) => SessionUse::Fork,
                };
                Err(SessionError::Busy { session: session.clone(), used_by })
            }
        }
    }

    fn begin_fork(&mut self, parent: &SessionId) -> Result<(), SessionError> {
        match self.uses.entry(parent.clone()).or_insert(Use::Forks(0)) {
            Use::Turn => Err(SessionError::Busy { session: parent.clone(), used_by: SessionUse::Turn }),
            Use::Forks(readers) => {
                *readers += 1;
                Ok(())
            }
        }
    }

    fn end_fork(&mut self, parent: &SessionId) {
        if let Some(Use::Forks(readers)) = self.uses.get_mut(parent) {
            *readers -= 1;
            if *readers == 0 {
                self.uses.remove(parent);
            }
        }
    }
}

impl SessionHold {
    /// The backend has named the session: from now on it is in use, and tied to the workspace. A fork no longer
    /// needs its parent. Repeating it changes nothing.
    pub fn started(&self, session: &SessionId) -> Result<(), SessionError> {
        let mut held = locked(&self.held);
        if held.turns.contains(session) {
            // Continuing: a session from before a restart is tied to the first workspace it is seen in.
            self.sessions.tie(session.clone(), self.workspace.as_deref());
            return Ok(());
        }
        if held.fork_of.as_ref() == Some(session) {
            return Err(SessionError::NotForked { session: session.clone() });
        }
        let mut state = self.sessions.state();
        state.begin_turn(session)?;
        state.homes.entry(session.clone()).or_insert_with(|| self.workspace.clone());
        if let Some(parent) = held.fork_of.take() {
            state.end_fork(&parent);
        }
        held.turns.push(session.clone());
        Ok(())
    }

    /// The session that turns run in, once it has a name.
    pub fn session(&self) -> Option<SessionId> {
        locked(&self.held).turns.last().cloned()
    }
}

impl Drop for SessionHold {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut state = locked(&self.sessions.state);
        for session in &held.turns {
            state.uses.remove(session);
        }
        if let Some(parent) = &held.fork_of {
            state.end_fork(parent);
        }
    }
}

impl fmt::Display for SessionUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Turn => "a turn runs in it",
            Self::Fork => "a fork of it is starting",
        })
    }
}

fn place(workspace: Option<&Path>) -> String {
    match workspace {
        Some(path) => format!("in {}", path.display()),
        None => "without a workspace".to_owned(),
    }
}

/// One spelling per directory, so that a symlink or a `..` on the way makes no second workspace of it.
fn resolved(workspace: &Path) -> PathBuf {
    std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned())
}

/// The state is consistent at every unlock, so a panic elsewhere does not spoil it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Slug;

    fn id(text: &str) -> SessionId {
        SessionId::new(text).unwrap()
    }

    fn fork_of(parent: &str) -> SessionOp {
        SessionOp::ForkFrom { parent: id(parent), slug: Slug::new("child").unwrap() }
    }

    fn busy(session: &str, used_by: SessionUse) -> Option<SessionError> {
        Some(SessionError::Busy { session: id(session), used_by })
    }

    #[test]
    fn a_session_runs_one_turn_at_a_time() {
        let sessions = Sessions::new();
        let operation = SessionOp::ContinueFrom(id("a"));
        let first = sessions.hold(&operation, None).unwrap();
        assert_eq!(sessions.hold(&operation, None).err(), busy("a", SessionUse::Turn));
        assert!(sessions.hold(&SessionOp::ContinueFrom(id("b")), None).is_ok(), "another session is free");
        drop(first);
        assert!(sessions.hold(&operation, None).is_ok());
    }

    #[test]
    fn a_fresh_session_is_in_use_from_the_moment_it_has_a_name() {
        let sessions = Sessions::new();
        let hold = sessions.hold(&SessionOp::StartFresh(Slug::new("write").unwrap()), None).unwrap();
        assert!(!sessions.is_busy(&id("write-1")));
        hold.started(&id("write-1")).unwrap();
        hold.started(&id("write-1")).unwrap();
        assert_eq!(
            sessions.hold(&SessionOp::ContinueFrom(id("write-1")), None).err(),
            busy("write-1", SessionUse::Turn)
        );
        drop(hold);
        assert!(!sessions.is_busy(&id("write-1")));
    }

    #[test]
    fn forks_share_their_parent_until_they_have_started() {
        let sessions = Sessions::new();
        let forks: Vec<_> = (0..4).map(|_| sessions.hold(&fork_of("p"), None).unwrap()).collect();
        let go_on = SessionOp::ContinueFrom(id("p"));
        assert_eq!(sessions.hold(&go_on, None).err(), busy("p", SessionUse::Fork));
        for (number, fork) in forks.iter().enumerate() {
            fork.started(&id(&format!("c{number}"))).unwrap();
        }
        let turn = sessions.hold(&go_on, None).expect("the children have started, the parent is free");
        assert_eq!(sessions.hold(&fork_of("p"), None).err(), busy("p", SessionUse::Turn));
        drop(turn);
        drop(sessions.hold(&fork_of("p"), None).expect("the parent's turn is over"));
        assert!(!sessions.is_busy(&id("p")), "a fork that never started gives its parent back too");
    }

    #[test]
    fn a_fork_that_goes_on_in_its_parent_is_caught() {
        let sessions = Sessions::new();
        let hold = sessions.hold(&fork_of("p"), None).unwrap();
        assert_eq!(hold.started(&id("p")).err(), Some(SessionError::NotForked { session: id("p") }));
    }

    #[test]
    fn a_session_stays_in_its_workspace_but_its_forks_may_leave() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let sessions = Sessions::new();
        let fresh = SessionOp::StartFresh(Slug::new("write").unwrap());
        let hold = sessions.hold(&fresh, Some(home.path())).unwrap();
        hold.started(&id("write-1")).unwrap();
        drop(hold);

        let go_on = SessionOp::ContinueFrom(id("write-1"));
        for (elsewhere, shown) in [
            (Some(elsewhere.path()), format!("in {}", resolved(elsewhere.path()).display())),
            (None, "without a workspace".to_owned()),
        ] {
            let refused = sessions.hold(&go_on, elsewhere).unwrap_err();
            assert_eq!(
                refused.to_string(),
                format!(
                    "session `write-1` began in {}, it cannot be continued {shown}; fork it, or start a fresh one",
                    resolved(home.path()).display()
                )
            );
        }
        let same_by_another_way = home.path().join("..").join(home.path().file_name().unwrap());
        assert!(sessions.hold(&go_on, Some(&same_by_another_way)).is_ok());
        assert!(sessions.hold(&fork_of("write-1"), Some(elsewhere.path())).is_ok());
    }

    #[test]
    fn a_session_from_before_a_restart_keeps_its_workspace() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let sessions = Sessions::new();
        sessions.tie(id("old"), Some(home.path()));
        sessions.tie(id("old"), Some(elsewhere.path()));
        let go_on = SessionOp::ContinueFrom(id("old"));
        assert!(matches!(sessions.hold(&go_on, Some(elsewhere.path())), Err(SessionError::WrongWorkspace { .. })));
        assert!(sessions.hold(&go_on, Some(home.path())).is_ok());
    }

    #[test]
    fn a_panic_gives_the_session_back() {
        let sessions = Sessions::new();
        let inside = sessions.clone();
        let outcome = std::thread::spawn(move || {
            let _hold = inside.hold(&SessionOp::ContinueFrom(id("a")), None).unwrap();
            panic!("the agent's code broke");
        })
        .join();
        assert!(outcome.is_err());
        assert!(!sessions.is_busy(&id("a")));
    }
}
