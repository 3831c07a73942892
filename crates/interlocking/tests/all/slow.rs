//! A journal that is slower than the one in memory, and otherwise the same.

use crate::support::pass;
use async_trait::async_trait;
use interlocking::prelude::RunId;
use interlocking::runtime::journal::{Claim, Digest, Encoded, Entry, JournalError, Letter, Posted, Record, RunSummary};
use interlocking::runtime::{Journal, MemoryJournal};
use std::sync::{Arc, Mutex};

/// A slow journal.
pub(crate) struct Slow {
    pub(crate) kept: MemoryJournal,
    /// The time to record an entry, in milliseconds.
    takes: fn(&Entry) -> u64,
    /// The time until a letter reaches its reader, in milliseconds.
    mail_takes: u64,
    /// A run whose resume takes 25 ms.
    pub(crate) resumed_slowly: Mutex<Option<RunId>>,
    /// The records that it refuses, after the usual time, as if it were full.
    pub(crate) has_no_room: fn(&Record) -> bool,
    /// Notified when `next` has ended, and `gate` is about to begin.
    pub(crate) gate: tokio::sync::Notify,
}

impl Slow {
    /// A journal that records slowly.
    pub(crate) fn new(takes: fn(&Entry) -> u64) -> Arc<Self> {
        Self::with(takes, 0)
    }

    /// A journal that records slowly, and refuses some records.
    pub(crate) fn refusing(takes: fn(&Entry) -> u64, has_no_room: fn(&Record) -> bool) -> Arc<Self> {
        let (kept, resumed_slowly, gate) = Default::default();
        Arc::new(Self { kept, takes, mail_takes: 0, resumed_slowly, has_no_room, gate })
    }

    /// A journal that delivers letters slowly.
    pub(crate) fn with_slow_mail(mail_takes: u64) -> Arc<Self> {
        Self::with(|_| 0, mail_takes)
    }

    fn with(takes: fn(&Entry) -> u64, mail_takes: u64) -> Arc<Self> {
        let (kept, resumed_slowly, gate) = Default::default();
        Arc::new(Self { kept, takes, mail_takes, resumed_slowly, has_no_room: |_| false, gate })
    }
}

#[async_trait]
impl Journal for Slow {
    fn outlives_its_process(&self) -> bool {
        false
    }

    async fn append(&self, record: Record) -> Result<(), JournalError> {
        pass((self.takes)(&record.entry)).await;
        let is_slow = self.resumed_slowly.lock().unwrap().as_ref() == Some(&record.run);
        if is_slow && matches!(record.entry, Entry::Resumed { .. }) {
            pass(25).await;
        }
        if matches!(&record.entry, Entry::Outcome(outcome) if outcome.node == "next") {
            self.gate.notify_one();
        }
        if (self.has_no_room)(&record) {
            return Err(JournalError::Storage { reason: "there is no room".to_owned() });
        }
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
        let posted = self.kept.next_letter(run, after).await;
        pass(self.mail_takes).await;
        posted
    }

    async fn letters(&self, run: &RunId, after: u64) -> Result<Vec<Posted>, JournalError> {
        self.kept.letters(run, after).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.kept.remove(run).await
    }
}
