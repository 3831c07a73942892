//! One lock a branch, for all that changes it: shared by every run of this process, whoever made its workspaces.
//!
//! Git work is done on threads that nobody can stop. Whoever resumes a run whose future was dropped waits here until what was under
//! way has ended.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Held as long as something changes a branch.
pub(crate) type Held = OwnedMutexGuard<()>;

type Turns = HashMap<(PathBuf, String), Weak<Turn<()>>>;

static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(Mutex::default);

/// Waits until nobody else changes that branch of the repository.
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
