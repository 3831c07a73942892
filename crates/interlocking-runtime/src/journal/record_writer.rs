//! Numbers and writes the records of one run, for all tasks that have something to record.

use crate::journal::{Entry, Journal, JournalError, Record};
use crate::run::claims::{Hold, Releasing};
use crate::tree::Tree;
use crate::workspaces::Workspaces;
use crate::workspaces::parent_journal::WriteEntry;
use async_trait::async_trait;
use interlocking_core::context::Commit;
use interlocking_core::run_id::RunId;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::Mutex;

/// Writes one run's records, one after the other, until the journal fails. From then on nothing is recorded of the run, and the
/// run's tree is told of the error.
pub(crate) struct RecordWriter {
    pub(crate) journal: Arc<dyn Journal>,
    run: RunId,
    tree: Arc<Tree>,
    /// The run's workspaces. They know the order in which commits were made, which may differ from the order of their records.
    workspaces: Arc<dyn Workspaces>,
    /// The number of the next record, or how the journal failed.
    next: Arc<Mutex<Result<u64, JournalError>>>,
    /// Keeps the claim on the run, as long as the executor or a detached write has it.
    hold: OnceLock<Weak<Hold>>,
}

impl RecordWriter {
    /// The writer for a run of `tree` that has this many records.
    pub(crate) fn new(
        journal: Arc<dyn Journal>,
        run: RunId,
        tree: Arc<Tree>,
        workspaces: Arc<dyn Workspaces>,
        records: u64,
    ) -> Self {
        Self { journal, run, tree, workspaces, next: Arc::new(Mutex::new(Ok(records))), hold: OnceLock::new() }
    }

    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// Sets what keeps the claim on the run.
    pub(crate) fn set_hold(&self, hold: &Arc<Hold>) {
        // A run is prepared once, so no hold is set before.
        let _ = self.hold.set(Arc::downgrade(hold));
    }

    /// Keeps the claim on the run for a detached write; `None` once the run was released and may belong to another executor.
    pub(crate) fn hold(&self) -> Option<Arc<Hold>> {
        self.hold.get()?.upgrade()
    }

    /// Marks the run as about to be released.
    pub(crate) fn releasing(&self) -> Releasing {
        Releasing::new(&self.journal, &self.run)
    }

    /// Appends an executor's first entry. Fails if the journal of a run of the tree has failed: then no run of the tree begins.
    pub(crate) async fn begin(&self, entry: Entry) -> Result<(), JournalError> {
        match self.tree.journal_error() {
            Some(error) => Err(error),
            None => self.write(entry).await,
        }
    }

    /// Appends an entry. A caller that drops this future must not write again.
    pub(crate) async fn write(&self, entry: Entry) -> Result<(), JournalError> {
        let mut next = match self.next.try_lock() {
            Ok(next) => next,
            Err(_) => {
                let next = self.next.lock().await;
                // The journal may have failed while this waited for other records. What was used up is recorded all the same.
                match self.tree.journal_error() {
                    Some(error) if !matches!(entry, Entry::Spent { .. }) => return Err(error),
                    _ => next,
                }
            }
        };
        let record = self.record(next.clone()?, entry);
        let written = self.journal.append(record).await;
        note(&mut next, &self.tree, written)
    }

    /// Appends an entry of a node, which may be stopped at any time: a write that has begun is completed even if this future is
    /// dropped, and keeps the claim on the run until then.
    pub(crate) async fn write_detached(&self, entry: Entry) -> Result<(), JournalError> {
        let Some(hold) = self.hold() else {
            let reason = format!("this process has released run `{}`, which another executor may hold", self.run);
            return Err(JournalError::Storage { reason });
        };
        let mut next = self.next.clone().lock_owned().await;
        let record = self.record(next.clone()?, entry);
        let (journal, tree) = (self.journal.clone(), self.tree.clone());
        let written = tokio::spawn(async move {
            let written = note(&mut next, &tree, journal.append(record).await);
            drop((next, hold));
            written
        });
        written.await.unwrap_or_else(|error| Err(JournalError::Storage { reason: error.to_string() }))
    }
}

impl RecordWriter {
    /// The record of an entry. Where a later commit of the same workspace is recorded already, it replaces the entry's.
    fn record(&self, sequence: u64, mut entry: Entry) -> Record {
        let commits = match &mut entry {
            Entry::Outcome(outcome) => &mut outcome.commits[..],
            Entry::Report { commits, .. } => commits,
            Entry::Landed { commit, .. } => std::slice::from_mut(commit),
            _ => &mut [],
        };
        for Commit { workspace, id } in commits {
            if let Some(later) = self.workspaces.recorded(workspace, id) {
                *id = later;
            }
        }
        Record { run: self.run.clone(), sequence, entry }
    }
}

#[async_trait]
impl WriteEntry for RecordWriter {
    async fn write_entry(&self, entry: Entry) -> Result<(), JournalError> {
        self.write_detached(entry).await
    }
}

/// Advances the number of the next record, or notes that the journal has failed.
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
            tree.journal_failed(error);
        }
    }
    written
}
