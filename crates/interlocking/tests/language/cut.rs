//! A journal that ends its process after so many records, of whichever run of the tree, and lists them in the order in which
//! they were written.

use async_trait::async_trait;
use interlocking::prelude::RunId;
use interlocking::runtime::journal::{Claim, Digest, Encoded, Entry, JournalError, Letter, Posted, Record, RunSummary};
use interlocking::runtime::{Journal, MemoryJournal};
use std::sync::{Arc, Mutex};

#[derive(Default)]
pub(crate) struct Cut {
    kept: MemoryJournal,
    /// How many more records it accepts; `None` means all.
    left: Mutex<Option<usize>>,
    written: Mutex<Vec<Record>>,
}

impl Cut {
    pub(crate) fn new(left: Option<usize>) -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(left), ..Self::default() })
    }

    /// From here on all records are accepted.
    pub(crate) fn heal(&self) {
        *self.left.lock().unwrap() = None;
    }

    /// All records of all runs, in the order in which they were written.
    pub(crate) fn written(&self) -> Vec<Record> {
        self.written.lock().unwrap().clone()
    }

    /// The values that `take` makes of entries, in the order in which these were written.
    pub(crate) fn entries<T>(&self, take: impl Fn(&Entry) -> Option<T>) -> Vec<T> {
        self.written().iter().filter_map(|record| take(&record.entry)).collect()
    }
}

#[async_trait]
impl Journal for Cut {
    fn outlives_its_process(&self) -> bool {
        false
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        if let Some(left) = &mut *self.left.lock().unwrap() {
            match left.checked_sub(1) {
                Some(less) => *left = less,
                None => return Err(JournalError::Storage { reason: "the process has ended".to_owned() }),
            }
        }
        self.written.lock().unwrap().push(record.clone());
        self.kept.append(record).await
    }

    async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        self.kept.claim(run).await
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        self.kept.load(run).await
    }

    async fn fetch(&self, run: &RunId, digests: &[Digest]) -> Result<Vec<Encoded>, JournalError> {
        self.kept.fetch(run, digests).await
    }

    async fn runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.kept.runs().await
    }

    async fn post(&self, run: &RunId, letter: Letter) -> Result<u64, JournalError> {
        self.kept.post(run, letter).await
    }

    async fn next_letter(&self, run: &RunId, after: u64) -> Result<Posted, JournalError> {
        self.kept.next_letter(run, after).await
    }

    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError> {
        self.kept.letters(run, after).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.kept.remove(run).await
    }
}
