//! Numbers the records of one run, whoever writes them.

use crate::journal::{Entry, Journal, JournalError, Record};
use crate::run::claims::{Hold, Leaving};
use crate::tree::Tree;
use crate::workspaces::Workspaces;
use crate::workspaces::parent_journal::WriteEntry;
use async_trait::async_trait;
use interlocking_core::context::Commit;
use interlocking_core::run_id::RunId;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::Mutex;

/// Writes one run's records, one after the other, until the journal fails: from then on nothing is recorded of the run, and
/// its tree knows.
pub(crate) struct RecordWriter {
    pub(crate) journal: Arc<dyn Journal>,
    run: RunId,
    tree: Arc<Tree>,
    /// The run's: they know in which order commits were made, which need not be that of their records.
    workspaces: Arc<dyn Workspaces>,
    /// The number of the next record, or how the journal failed.
    next: Arc<Mutex<Result<u64, JournalError>>>,
    /// What keeps others from the run, as long as its executor has it.
    hold: OnceLock<Weak<Hold>>,
}

impl RecordWriter {
    /// Of a run of `tree` that has so many records.
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

    /// The run is held so from now on.
    pub(crate) fn writes_under(&self, hold: &Arc<Hold>) {
        // A run is prepared once.
        let _ = self.hold.set(Arc::downgrade(hold));
    }

    /// Holds the run for a write that nobody waits for; `None` once it was let go of, and may be another executor's.
    pub(crate) fn hold(&self) -> Option<Arc<Hold>> {
        self.hold.get()?.upgrade()
    }

    /// The run is about to be let go of.
    pub(crate) fn leaving(&self) -> Leaving {
        Leaving::new(&self.journal, &self.run)
    }

    /// Appends what an executor writes of its run first. No run of a tree begins once a journal of it has failed.
    pub(crate) async fn begin(&self, entry: Entry) -> Result<(), JournalError> {
        match self.tree.journal_error() {
            Some(error) => Err(error),
            None => self.write(entry).await,
        }
    }

    /// Appends an entry. Whoever drops this future must write no more.
    pub(crate) async fn write(&self, entry: Entry) -> Result<(), JournalError> {
        let mut next = match self.next.try_lock() {
            Ok(next) => next,
            Err(_) => {
                let next = self.next.lock().await;
                // It has waited for others' records, and its tree may have been stopped meanwhile. What was used up is recorded all the same.
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

    /// The same for a node, which may be stopped at any time: what is being written then is written all the same, and holds the
    /// run until it is.
    pub(crate) async fn write_detached(&self, entry: Entry) -> Result<(), JournalError> {
        let Some(hold) = self.hold() else {
            let reason = format!("run `{}` was let go of, and may be another executor's", self.run);
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
    /// An entry, about to be written, with the commits that count by now: of two in one place, whichever was made later.
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
            tree.journal_failed(error);
        }
    }
    written
}
