//! Whose a run is in this process: its executor's, then that of what is still being written for it, and then nobody's.
//!
//! A run may be dropped at any moment, and what was being written for its nodes then is written all the same. Until it is, the
//! run is held: nobody reads a journal that is still being written. Another process is refused meanwhile. This one knows that
//! its own executor has left, and waits: [`claim`].
//!
//! What is not done when its run is to end is given up: the run ends without it, and is held until what that comes to is written,
//! too. Whoever goes on with the tree waits for it: [`addenda`].

use crate::journal::record_writer::RecordWriter;
use crate::journal::{Claim, Journal, JournalError};
use crate::mutex::Mutex;
use interlocking_core::run_id::RunId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
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
    while LEAVING.is_listed_until_told(&key(journal, run)).await {}
}

/// Whether something that was given up at a run's end works for it in this process.
pub(crate) fn has_addenda(journal: &dyn Journal, run: &RunId) -> bool {
    GIVEN_UP.told(&key(journal, run)).is_some()
}

/// Waits until nothing that was given up at a run's end works for it in this process; whether anything did.
pub(crate) async fn addenda(journal: &dyn Journal, run: &RunId) -> bool {
    if has_addenda(journal, run) {
        tracing::info!(%run, "waiting for what goes on in this process though the run ended without it");
    }
    let mut any = false;
    while GIVEN_UP.is_listed_until_told(&key(journal, run)).await {
        any = true;
    }
    any
}

/// A run as its executor holds it, and whatever works on for it after its end.
pub(crate) struct Executor {
    record_writer: Arc<RecordWriter>,
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
    _listed: Listed,
}

/// What is given up at the end of a run works on, and holds the run, until this is dropped.
pub(crate) struct GivenUp {
    _executor: Executor,
    /// Dropped after the claim: whoever is told finds the run free.
    _listed: Listed,
}

/// A run that is on a list until this is dropped.
struct Listed {
    list: &'static List,
    key: Key,
    /// Kept, so that no other journal has its address.
    _journal: Arc<dyn Journal>,
}

/// The journal's address, and the run.
type Key = (usize, RunId);

/// By run: how often it is listed, and who is told when it is no more.
struct List(Mutex<BTreeMap<Key, (usize, Arc<Notify>)>>);

/// The runs that are about to be let go of.
static LEAVING: List = List(Mutex::new(BTreeMap::new()));

/// The runs for which something works on that was given up at their end.
static GIVEN_UP: List = List(Mutex::new(BTreeMap::new()));

impl Executor {
    /// The executor for whom these records are written.
    pub(crate) fn new(claim: Claim, record_writer: Arc<RecordWriter>) -> Self {
        let hold = Arc::new(Hold { _claim: claim, executors: AtomicUsize::new(1), leaving: OnceLock::new() });
        record_writer.writes_under(&hold);
        Self { record_writer, hold }
    }

    /// Holds the run for what goes on though the run ends without it.
    pub(crate) fn gives_up(&self) -> GivenUp {
        GivenUp {
            _executor: self.clone(),
            _listed: GIVEN_UP.lists(&self.record_writer.journal, self.record_writer.run()),
        }
    }
}

impl Clone for Executor {
    fn clone(&self) -> Self {
        self.hold.executors.fetch_add(1, Ordering::Relaxed);
        Self { record_writer: self.record_writer.clone(), hold: self.hold.clone() }
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        let is_last = self.hold.executors.fetch_sub(1, Ordering::AcqRel) == 1;
        // This one, and what is being written.
        if is_last && Arc::strong_count(&self.hold) > 1 {
            self.hold.leaving.get_or_init(|| Box::new(self.record_writer.leaving()));
        }
    }
}

impl Leaving {
    pub(crate) fn new(journal: &Arc<dyn Journal>, run: &RunId) -> Self {
        Self { _listed: LEAVING.lists(journal, run) }
    }
}

impl List {
    fn lists(&'static self, journal: &Arc<dyn Journal>, run: &RunId) -> Listed {
        let key = key(&**journal, run);
        self.0.lock().entry(key.clone()).or_default().0 += 1;
        Listed { list: self, key, _journal: journal.clone() }
    }

    /// What tells when the run is listed no more; `None` unless it is.
    fn told(&self, key: &Key) -> Option<Arc<Notify>> {
        self.0.lock().get(key).map(|(_, told)| told.clone())
    }

    /// False at once if the run is not listed; true when whoever waits for that was told.
    async fn is_listed_until_told(&self, key: &Key) -> bool {
        let Some(notify) = self.told(key) else { return false };
        let mut notified = std::pin::pin!(notify.notified());
        notified.as_mut().enable();
        // Looked at once it would be told, so that it does not go between the two.
        if self.told(key).is_some_and(|now| Arc::ptr_eq(&now, &notify)) {
            notified.await;
        }
        true
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut list = self.list.0.lock();
        if let Some((count, told)) = list.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                told.notify_waiters();
                list.remove(&self.key);
            }
        }
    }
}

/// What tells when the run is free; `None` unless it is about to be.
fn told(journal: &dyn Journal, run: &RunId) -> Option<Arc<Notify>> {
    LEAVING.told(&key(journal, run))
}

fn key(journal: &dyn Journal, run: &RunId) -> Key {
    (std::ptr::from_ref(journal).cast::<()>().addr(), run.clone())
}
