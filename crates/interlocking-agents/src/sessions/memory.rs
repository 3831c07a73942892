//! The sessions of one process.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Place;
use super::error::{SessionError, SessionUse};
use crate::sessions::session::SessionId;

/// Which sessions are in use in this process, and which workspaces they began in.
#[derive(Debug, Default)]
pub(super) struct Memory {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    uses: HashMap<SessionId, Use>,
    places: HashMap<SessionId, Place>,
}

#[derive(Debug)]
enum Use {
    Turn,
    /// This many forks still read the session.
    Forks(usize),
}

/// Marks a session as in use until this is dropped.
#[derive(Debug)]
pub(super) struct Used {
    memory: Arc<Memory>,
    session: SessionId,
}

impl Memory {
    pub(super) fn begin(self: &Arc<Self>, session: &SessionId, wanted: SessionUse) -> Result<Used, SessionError> {
        let mut state = self.state();
        let used_by = match (state.uses.entry(session.clone()), wanted) {
            (Entry::Vacant(free), SessionUse::Turn) => {
                free.insert(Use::Turn);
                None
            }
            (Entry::Vacant(free), SessionUse::Fork) => {
                free.insert(Use::Forks(1));
                None
            }
            (Entry::Occupied(mut used), wanted) => match (used.get_mut(), wanted) {
                (Use::Turn, _) => Some(SessionUse::Turn),
                (Use::Forks(_), SessionUse::Turn) => Some(SessionUse::Fork),
                (Use::Forks(readers), SessionUse::Fork) => {
                    *readers += 1;
                    None
                }
            },
        };
        match used_by {
            None => Ok(Used { memory: Arc::clone(self), session: session.clone() }),
            Some(used_by) => Err(SessionError::Busy { session: session.clone(), used_by, process: None }),
        }
    }

    pub(super) fn place(&self, session: &SessionId) -> Option<Place> {
        self.state().places.get(session).cloned()
    }

    /// Records the workspace of a session unless one is recorded already.
    pub(super) fn record_workspace(&self, session: &SessionId, place: &Place) {
        self.state().places.entry(session.clone()).or_insert_with(|| place.clone());
    }

    /// The state is consistent at every unlock, so a panic elsewhere does not spoil it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        let mut state = self.memory.state();
        match state.uses.get_mut(&self.session) {
            Some(Use::Forks(readers)) if *readers > 1 => *readers -= 1,
            _ => {
                state.uses.remove(&self.session);
            }
        }
    }
}
