//! Tracks what in this process holds a run: its executor, then writes that are still pending, then nothing.
//!
//! The future of a run may be dropped at any moment. Writes that its nodes have begun are completed all the same. Until then the
//! claim on the run is kept, so that no executor reads a journal that is still being written. Another process is refused
//! meanwhile. This process knows that its own executor is gone, and waits: [`claim`].
//!
//! A run does not wait for advisory nodes and observers beyond a deadline. It ends, and their late work goes on and keeps the
//! claim until its results are written, too. An executor that retries the run or resumes its parent waits for that:
//! [`wait_for_late_work`].

use crate::journal::record_writer::RecordWriter;
use crate::journal::{Claim, Journal, JournalError};
use crate::mutex::Mutex;
use interlocking_core::run_id::RunId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// Makes the caller the executor of a run. Waits first if this process is about to release the run.
///
/// # Errors
///
/// [`JournalError::Held`] while another executor of this or another process has the run.
pub(crate) async fn claim(journal: &dyn Journal, run: &RunId) -> Result<Claim, JournalError> {
    loop {
        // Checked before the claim and after it, because the run may be released while the claim is being refused.
        let was_releasing = is_releasing(journal, run);
        match journal.claim(run).await {
            Err(JournalError::Held { .. }) if was_releasing || is_releasing(journal, run) => {
                wait_until_released(journal, run).await
            }
            claimed => return claimed,
        }
    }
}

/// Claims a run that this process has executed and that has ended, so that no other process takes it up. `None` if late work in
/// this process keeps the claim, to the same effect.
///
/// # Errors
///
/// [`JournalError::Held`] while another process has the run.
pub async fn claim_ended(journal: &dyn Journal, run: &RunId) -> Result<Option<Claim>, JournalError> {
    // Checked before the claim and after it, because the late work may end while the claim is being refused.
    let had_late_work = has_late_work(journal, run);
    match claim(journal, run).await {
        Err(JournalError::Held { .. }) if has_late_work(journal, run) => Ok(None),
        Err(JournalError::Held { .. }) if had_late_work => claim(journal, run).await.map(Some),
        claimed => claimed.map(Some),
    }
}

/// If this process is about to release the run, waits until it has. Does not wait for a run that is being executed.
pub(crate) async fn wait_until_released(journal: &dyn Journal, run: &RunId) {
    while RELEASING.wait_until_removed(&key(journal, run)).await {}
}

/// Whether late work of a run that has ended goes on in this process.
pub(crate) fn has_late_work(journal: &dyn Journal, run: &RunId) -> bool {
    LATE_WORK.notify_of(&key(journal, run)).is_some()
}

/// Waits until no late work of a run goes on in this process; returns whether there was any.
pub(crate) async fn wait_for_late_work(journal: &dyn Journal, run: &RunId) -> bool {
    if has_late_work(journal, run) {
        tracing::info!(%run, "the run has ended; waiting for work that it left running in this process");
    }
    let mut any = false;
    while LATE_WORK.wait_until_removed(&key(journal, run)).await {
        any = true;
    }
    any
}

/// Waits until no late work of any run of this journal goes on in this process.
pub(crate) async fn wait_for_all_late_work(journal: &dyn Journal) {
    while LATE_WORK.wait_until_any_removed(address(journal)).await {}
}

/// The right of an executor, or of late work after the run's end, to write the records of a run.
pub(crate) struct Executor {
    record_writer: Arc<RecordWriter>,
    hold: Arc<Hold>,
}

/// Keeps the claim on a run. The executor has it, and so does each detached write.
pub(crate) struct Hold {
    _claim: Claim,
    executors: AtomicUsize,
    /// Set once the last executor is dropped. This field is dropped after the claim, so that a waiting task finds the run free.
    releasing: OnceLock<Box<Releasing>>,
}

/// Marks a run that this process is about to release. Dropped once the run is released.
pub(crate) struct Releasing {
    _listed: Listed,
}

/// Keeps the claim on a run for its late work, until this is dropped.
pub(crate) struct LateWork {
    _executor: Executor,
    /// Dropped after the claim, so that a waiting task finds the run free.
    _listed: Listed,
}

/// Keeps a run on a list until this is dropped.
struct Listed {
    list: &'static List,
    key: Key,
    /// Kept so that the address in `key` is not reused for another journal.
    _journal: Arc<dyn Journal>,
}

/// The journal's address, and the run.
type Key = (usize, RunId);

/// By run: how many [`Listed`] there are, and the notification for when there is none.
struct List(Mutex<BTreeMap<Key, (usize, Arc<Notify>)>>);

/// The runs that this process is about to release.
static RELEASING: List = List(Mutex::new(BTreeMap::new()));

/// The runs that have ended and whose late work goes on.
static LATE_WORK: List = List(Mutex::new(BTreeMap::new()));

impl Executor {
    /// The executor whose records `record_writer` writes.
    pub(crate) fn new(claim: Claim, record_writer: Arc<RecordWriter>) -> Self {
        let hold = Arc::new(Hold { _claim: claim, executors: AtomicUsize::new(1), releasing: OnceLock::new() });
        record_writer.set_hold(&hold);
        Self { record_writer, hold }
    }

    /// Keeps the claim on the run for work that goes on after the run has ended without it.
    pub(crate) fn start_late_work(&self) -> LateWork {
        LateWork {
            _executor: self.clone(),
            _listed: LATE_WORK.add(&self.record_writer.journal, self.record_writer.run()),
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
        // There are other references than this one: detached writes.
        if is_last && Arc::strong_count(&self.hold) > 1 {
            self.hold.releasing.get_or_init(|| Box::new(self.record_writer.releasing()));
        }
    }
}

impl Releasing {
    pub(crate) fn new(journal: &Arc<dyn Journal>, run: &RunId) -> Self {
        Self { _listed: RELEASING.add(journal, run) }
    }
}

impl List {
    fn add(&'static self, journal: &Arc<dyn Journal>, run: &RunId) -> Listed {
        let key = key(&**journal, run);
        self.0.lock().entry(key.clone()).or_default().0 += 1;
        Listed { list: self, key, _journal: journal.clone() }
    }

    /// The notification for when the run is removed from the list; `None` if it is not on the list.
    fn notify_of(&self, key: &Key) -> Option<Arc<Notify>> {
        self.0.lock().get(key).map(|(_, notify)| notify.clone())
    }

    /// Returns false at once if no run of the journal with this address is on the list; otherwise waits until one of them is
    /// removed, and returns true.
    async fn wait_until_any_removed(&self, journal: usize) -> bool {
        let listed = self.0.lock().keys().find(|(address, _)| *address == journal).cloned();
        match listed {
            Some(key) => self.wait_until_removed(&key).await,
            None => false,
        }
    }

    /// Returns false at once if the run is not on the list; otherwise waits until it is removed, and returns true.
    async fn wait_until_removed(&self, key: &Key) -> bool {
        let Some(notify) = self.notify_of(key) else { return false };
        let notified = notify.notified();
        // The list is checked again, so that a removal before `notified` was created is not missed.
        if self.notify_of(key).is_some_and(|now| Arc::ptr_eq(&now, &notify)) {
            notified.await;
        }
        true
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut list = self.list.0.lock();
        if let Some((count, notify)) = list.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                notify.notify_waiters();
                list.remove(&self.key);
            }
        }
    }
}

/// Whether this process is about to release the run.
fn is_releasing(journal: &dyn Journal, run: &RunId) -> bool {
    RELEASING.notify_of(&key(journal, run)).is_some()
}

fn key(journal: &dyn Journal, run: &RunId) -> Key {
    (address(journal), run.clone())
}

fn address(journal: &dyn Journal) -> usize {
    std::ptr::from_ref(journal).cast::<()>().addr()
}
