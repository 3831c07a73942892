//! Numbers the records of one run, whoever writes them.

use crate::journal::{Entry, Journal, JournalError, Record};
use interlocking_core::run_id::RunId;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Writes one run's records, one after the other.
pub(crate) struct Scribe {
    pub(crate) journal: Arc<dyn Journal>,
    run: RunId,
    /// The number of the next record.
    next: Arc<Mutex<u64>>,
}

impl Scribe {
    /// Of a run that has so many records.
    pub(crate) fn new(journal: Arc<dyn Journal>, run: RunId, records: u64) -> Self {
        Self { journal, run, next: Arc::new(Mutex::new(records)) }
    }

    /// Appends an entry. Whoever drops this future must write no more.
    pub(crate) async fn write(&self, entry: Entry) -> Result<(), JournalError> {
        let mut next = self.next.lock().await;
        self.journal.append(Record { run: self.run.clone(), sequence: *next, entry }).await?;
        *next += 1;
        Ok(())
    }

    /// The same for a node, which may be stopped at any time: what is being written then is written all the same.
    pub(crate) async fn write_detached(&self, entry: Entry) -> Result<(), JournalError> {
        let mut next = self.next.clone().lock_owned().await;
        let (journal, run) = (self.journal.clone(), self.run.clone());
        let written = tokio::spawn(async move {
            let written = journal.append(Record { run, sequence: *next, entry }).await;
            *next += u64::from(written.is_ok());
            written
        });
        written.await.unwrap_or_else(|error| Err(JournalError::Storage { reason: error.to_string() }))
    }
}
