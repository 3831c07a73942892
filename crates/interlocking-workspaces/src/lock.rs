//! One lock per branch, for everything that changes the branch. All runs of this process share the locks, whichever
//! [`GitWorkspaces`](crate::GitWorkspaces) they use.
//!
//! Git work runs on threads that cannot be stopped. When a run whose future was dropped is resumed, it waits here for
//! the work under way to end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The held lock of a branch.
pub(crate) type Held = OwnedMutexGuard<()>;

type Turns = HashMap<(PathBuf, String), Weak<Turn<()>>>;

static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(Mutex::default);

/// Waits for the lock of this branch of the repository.
pub(crate) async fn lock(repository: &Path, branch: &str) -> Held {
    let turn = {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let known = turns.entry((repository.to_owned(), branch.to_owned())).or_default();
        known.upgrade().unwrap_or_else(|| {
            let turn = Arc::new(Turn::new(()));
            *known = Arc::downgrade(&turn);
            turn
        })
    };
    turn.lock_owned().await
}
