//! Whose a run is in this process: its executor's, then that of what is still being written for it, and then nobody's.
//!
//! A run may be dropped at any moment, and what was being written for its nodes then is written all the same. Until it is, the
//! run is held: nobody reads a journal that is still being written. Another process is refused meanwhile. This one knows that
//! its own executor has left, and waits: [`claim`].

use crate::journal::record_writer::Scribe;
use crate::journal::{Claim, Journal, JournalError};
use interlocking_core::run_id::RunId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;

/// Makes the caller the executor of a run, once this process has let go of it.
///
/// # Errors
///
/// [`JournalError::Held`] while another executor lives that holds it, here or elsewhere.
pub(crate) async fn claim(journal: &dyn Journal, run: &RunId) -> Result<Claim, JournalError> {
    loop {
        // Asked before as well: it may be let go while the claim is being refused.
        let is_leaving = told(journal, run).is_some();
        match journal.claim(run).await {
            Err(JournalError::Held { .. }) if is_leaving || told(journal, run).is_some() => let_go(journal, run).await,
            claimed => return claimed,
        }
    }
}

/// Waits until a run is free that this process is about to let go of; not for one that somebody executes.
pub(crate) async fn let_go(journal: &dyn Journal, run: &RunId) {
    while let Some(notify) = told(journal, run) {
        let mut notified = std::pin::pin!(notify.notified());
        notified.as_mut().enable();
        // Looked at once it would be told, so that it is not let go of between the two.
        if told(journal, run).is_some_and(|now| Arc::ptr_eq(&now, &notify)) {
            notified.await;
        }
    }
}

/// A run as its executor holds it, and whatever works on for it after its end.
pub(crate) struct Executor {
    scribe: Arc<Scribe>,
    hold: Arc<Hold>,
}

/// What keeps others from a run. Each write that nobody waits for has it, too.
pub(crate) struct Hold {
    _claim: Claim,
    executors: AtomicUsize,
    /// Once its executors have left. Dropped after the claim: whoever is told finds the run free.
    leaving: OnceLock<Box<Leaving>>,
}

/// A run that this process is about to let go of. It has done so when this is dropped.
pub(crate) struct Leaving {
    key: Key,
    /// Kept, so that no other journal has its address.
    _journal: Arc<dyn Journal>,
}

/// The journal's address, and the run.
type Key = (usize, RunId);

/// By run that is about to be let go of: by how many, and who is told when they have.
static LEAVING: Mutex<BTreeMap<Key, (usize, Arc<Notify>)>> = Mutex::new(BTreeMap::new());

impl Executor {
    /// The executor for whom these records are written.
    pub(crate) fn new(claim: Claim, scribe: Arc<Scribe>) -> Self {
        let hold = Arc::new(Hold { _claim: claim, executors: AtomicUsize::new(1), leaving: OnceLock::new() });
        scribe.writes_under(&hold);
        Self { scribe, hold }
    }
}

impl Clone for Executor {
    fn clone(&self) -> Self {
        self.hold.executors.fetch_add(1, Ordering::Relaxed);
        Self { scribe: self.scribe.clone(), hold: self.hold.clone() }
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        let is_last = self.hold.executors.fetch_sub(1, Ordering::AcqRel) == 1;
        // This one, and what is being written.
        if is_last && Arc::strong_count(&self.hold) > 1 {
            self.hold.leaving.get_or_init(|| Box::new(self.scribe.leaving()));
        }
    }
}

impl Leaving {
    pub(crate) fn new(journal: &Arc<dyn Journal>, run: &RunId) -> Self {
        let key = key(&**journal, run);
        leaving().entry(key.clone()).or_default().0 += 1;
        Self { key, _journal: journal.clone() }
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut leaving = leaving();
        if let Some((count, told)) = leaving.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                told.notify_waiters();
                leaving.remove(&self.key);
            }
        }
    }
}

/// What tells when the run is free; `None` unless it is about to be.
fn told(journal: &dyn Journal, run: &RunId) -> Option<Arc<Notify>> {
    leaving().get(&key(journal, run)).map(|(_, told)| told.clone())
}

fn key(journal: &dyn Journal, run: &RunId) -> Key {
    (std::ptr::from_ref(journal).cast::<()>().addr(), run.clone())
}

/// What this guards is whole between two statements, whoever panics.
fn leaving() -> MutexGuard<'static, BTreeMap<Key, (usize, Arc<Notify>)>> {
    LEAVING.lock().unwrap_or_else(PoisonError::into_inner)
}
