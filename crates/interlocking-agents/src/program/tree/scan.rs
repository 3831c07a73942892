//! Looks at all processes, shared between those who want one at the same time.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::table::Table;

static LOOKS: Looks =
    Looks { state: Mutex::new(State { begun: 0, is_looking: false, last: None }), done: Condvar::new() };

struct Looks {
    state: Mutex<State>,
    done: Condvar,
}

struct State {
    /// How many looks were begun.
    begun: u64,
    is_looking: bool,
    /// The last that ended, and its number.
    last: Option<(u64, Arc<Table>)>,
}

/// A look that began after this was called. Blocks for as long as it takes.
///
/// A look costs some microseconds a process of the whole system, so all who ask while one is going on share the next one.
pub(super) fn look() -> io::Result<Arc<Table>> {
    LOOKS.next()
}

impl Looks {
    fn next(&self) -> io::Result<Arc<Table>> {
        let mut state = self.lock();
        let wanted = state.begun + 1;
        loop {
            if let Some((number, table)) = &state.last
                && *number >= wanted
            {
                return Ok(Arc::clone(table));
            }
            if !state.is_looking {
                break;
            }
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_looking = true;
        state.begun += 1;
        let number = state.begun;
        drop(state);
        let table = Table::look().map(Arc::new);
        let mut state = self.lock();
        state.is_looking = false;
        if let Ok(table) = &table {
            state.last = Some((number, Arc::clone(table)));
        }
        // Where it failed, the next one tries for itself.
        self.done.notify_all();
        table
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
