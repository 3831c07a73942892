//! The record of a run: one entry a node outcome, appended before any successor starts.
//!
//! What the record holds is enough to rebuild the run's state: replay the entries through a fresh
//! [`Frontier`](interlocking_core::frontier::Frontier) in order.

use async_trait::async_trait;
use interlocking_agents::LedgerEntry;
use interlocking_core::context::Commit;
use interlocking_core::failure::Failure;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// A payload as JSON text. Cheap to clone: the journal and the run share it.
pub type Encoded = Arc<str>;

/// One entry of a run's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The run.
    pub run: RunId,
    /// The entry's position, counted from 0 without gaps.
    pub sequence: u64,
    /// What happened.
    pub entry: Entry,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The run started.
    Started {
        /// The table it runs under: a resume under another one is refused with the difference.
        table: Box<Table>,
        /// The entry value.
        input: Encoded,
    },
    /// A node execution's outcome was accepted: all of it, or nothing.
    Outcome(NodeOutcome),
    /// The run ended.
    Ended {
        /// Why it failed; absent when it finished or was cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// Whether it was cancelled.
        cancelled: bool,
    },
}

/// Everything that one node execution did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOutcome {
    /// The node.
    pub node: String,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
    /// Which of the table's alternatives it took.
    pub alternative: u16,
    /// The tokens it made.
    pub tokens: Vec<TokenRecord>,
    /// Its memory group's value after its updates; absent if it made none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRecord>,
    /// The agent calls it made, with their sessions and costs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<LedgerEntry>,
    /// The commits it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// How long it ran, in milliseconds.
    pub took_ms: u64,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The place it lies in: `node`, `join.slot` or `exit`.
    pub place: String,
    /// What it carries.
    pub payload: Encoded,
}

/// A memory group's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// The group.
    pub group: String,
    /// Its value.
    pub value: Encoded,
}

/// Where records go.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends a record, atomically and durably: when this returns, the record survives.
    ///
    /// # Errors
    ///
    /// [`JournalError`]; the run then fails, and no successor starts.
    async fn append(&self, record: Record) -> Result<(), JournalError>;

    /// The records of a run, in order; empty if there are none.
    ///
    /// # Errors
    ///
    /// [`JournalError`] where they cannot be read.
    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError>;
}

/// Why a journal refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The record is not the next one of its run: another executor works on the run, or it was started before.
    #[error(
        "run `{run}` has {present} records already, so record {sequence} is not its next: \
         start the run under a new id, or resume it"
    )]
    OutOfOrder {
        /// The run.
        run: RunId,
        /// The record's position.
        sequence: u64,
        /// How many records there are.
        present: u64,
    },
    /// A payload cannot be written or read.
    #[error("{what} cannot be stored: {reason}")]
    Encoding {
        /// The payload.
        what: String,
        /// The serializer's words.
        reason: String,
    },
    /// The storage failed.
    #[error("the journal's storage failed: {reason}")]
    Storage {
        /// Its words, and what to do.
        reason: String,
    },
}

/// A journal that lives as long as the process.
#[derive(Debug, Default)]
pub struct MemoryJournal(Mutex<HashMap<RunId, Vec<Record>>>);

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// The records of a run so far.
    pub fn records(&self, run: &RunId) -> Vec<Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned().unwrap_or_default()
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, record: Record) -> Result<(), JournalError> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let records = runs.entry(record.run.clone()).or_default();
        let present = records.len() as u64;
        if record.sequence != present {
            return Err(JournalError::OutOfOrder { run: record.run, sequence: record.sequence, present });
        }
        records.push(record);
        Ok(())
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, JournalError> {
        Ok(self.records(run))
    }
}
