//! One lock per branch, for everything that changes the branch. All runs of this process share the locks, whichever
//! [`GitWorkspaces`](crate::GitWorkspaces) they use.
//!
//! Git work runs on threads that cannot be stopped. When a run whose future was dropped is resumed, it waits here for
//! the work under way to end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The held lock of a branch.
pub(crate) type BranchGuard = OwnedMutexGuard<()>;

type Locks = HashMap<(PathBuf, String), Weak<AsyncMutex<()>>>;

static LOCKS: LazyLock<Mutex<Locks>> = LazyLock::new(Mutex::default);

/// Waits for the lock of this branch of the repository.
pub(crate) async fn lock(repository: &Path, branch: &str) -> BranchGuard {
    let branch_lock = {
        let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, branch_lock| branch_lock.strong_count() > 0);
        let known = locks.entry((repository.to_owned(), branch.to_owned())).or_default();
        known.upgrade().unwrap_or_else(|| {
            let branch_lock = Arc::new(AsyncMutex::new(()));
            *known = Arc::downgrade(&branch_lock);
            branch_lock
        })
    };
    branch_lock.lock_owned().await
}
