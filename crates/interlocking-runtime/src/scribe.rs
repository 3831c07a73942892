//! Numbers the records of one run, whoever writes them.

use crate::journal::{Entry, Journal, JournalError, Record};
use crate::tree::Tree;
use interlocking_core::run_id::RunId;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Writes one run's records, one after the other, until the journal fails: from then on nothing is recorded of the run, and
/// its tree knows.
pub(crate) struct Scribe {
    pub(crate) journal: Arc<dyn Journal>,
    run: RunId,
    tree: Arc<Tree>,
    /// The number of the next record, or how the journal failed.
    next: Arc<Mutex<Result<u64, JournalError>>>,
}

impl Scribe {
    /// Of a run of that tree, which has so many records.
    pub(crate) fn new(journal: Arc<dyn Journal>, run: RunId, tree: Arc<Tree>, records: u64) -> Self {
        Self { journal, run, tree, next: Arc::new(Mutex::new(Ok(records))) }
    }

    /// Appends an entry. Whoever drops this future must write no more.
    pub(crate) async fn write(&self, entry: Entry) -> Result<(), JournalError> {
        let mut next = self.next.lock().await;
        let record = Record { run: self.run.clone(), sequence: next.clone()?, entry };
        let written = self.journal.append(record).await;
        note(&mut next, &self.tree, written)
    }

    /// The same for a node, which may be stopped at any time: what is being written then is written all the same.
    pub(crate) async fn write_detached(&self, entry: Entry) -> Result<(), JournalError> {
        let mut next = self.next.clone().lock_owned().await;
        let record = Record { run: self.run.clone(), sequence: next.clone()?, entry };
        let (journal, tree) = (self.journal.clone(), self.tree.clone());
        let written = tokio::spawn(async move {
            let written = journal.append(record).await;
            note(&mut next, &tree, written)
        });
        written.await.unwrap_or_else(|error| Err(JournalError::Storage { reason: error.to_string() }))
    }
}

/// Takes note of what came of a record.
fn note(
    next: &mut Result<u64, JournalError>,
    tree: &Tree,
    written: Result<(), JournalError>,
) -> Result<(), JournalError> {
    match &written {
        Ok(()) => next.iter_mut().for_each(|next| *next += 1),
        Err(error) if error.is_refusal() => {}
        Err(error) => {
            *next = Err(error.clone());
            tree.had(error);
        }
    }
    written
}
