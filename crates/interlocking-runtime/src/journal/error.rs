//! Errors of a journal.

use crate::journal::payload::Digest;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a journal could not do what it was asked. Records that it acknowledged before are not lost.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "journal", rename_all = "snake_case")]
#[non_exhaustive]
pub enum JournalError {
    /// The record is not the next one of its run: another executor has the run, or the run was started before.
    #[error(
        "run `{run}` has {present} records already, so record {sequence} is not its next: \
         start the run under a new id, or resume it"
    )]
    OutOfOrder {
        /// The run.
        run: RunId,
        /// The record's position.
        sequence: u64,
        /// How many records the run has.
        present: u64,
    },
    /// There is no such run.
    #[error("there is no run `{run}` in {place}: list the runs there are")]
    NoRun {
        /// The run.
        run: RunId,
        /// The journal.
        place: String,
    },
    /// Another executor has the run.
    #[error("run `{run}` is being executed by {holder}: wait until it ends, or stop it")]
    Held {
        /// The run.
        run: RunId,
        /// The executor.
        holder: String,
    },
    /// The run already has a letter with this key.
    #[error("run `{run}` has had its {key} already: the first one counts")]
    AlreadyPosted {
        /// The run.
        run: RunId,
        /// The key.
        key: String,
    },
    /// A payload cannot be serialized or deserialized.
    #[error("{what} cannot be stored: {reason}")]
    Encoding {
        /// The payload.
        what: String,
        /// The serializer's message.
        reason: String,
    },
    /// A record names a payload that is missing.
    #[error(
        "{place} has no payload {digest}, which {what} names: restore it from a copy, or fork the run from an earlier record"
    )]
    PayloadMissing {
        /// The journal.
        place: String,
        /// The payload.
        digest: Digest,
        /// The record that names it.
        what: String,
    },
    /// A payload does not match its digest.
    #[error("payload {digest} in {place} was changed: its bytes are those of {found}; restore it from a copy")]
    PayloadTampered {
        /// The journal.
        place: String,
        /// The payload.
        digest: Digest,
        /// The digest of the stored bytes.
        found: Digest,
    },
    /// The storage is full.
    #[error("there is no room left for {place}: free some and resume the run; nothing that was recorded is lost")]
    Full {
        /// The journal.
        place: String,
    },
    /// The storage cannot be written.
    #[error("{place} cannot be written: {reason}")]
    ReadOnly {
        /// The journal.
        place: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The stored data is not what the journal wrote.
    #[error("{place} is damaged: {what}; {remedy}")]
    Damaged {
        /// The journal.
        place: String,
        /// What is damaged.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A newer program has written the journal in a newer layout.
    #[error(
        "{place} has layout {found}, and this program knows layouts up to {known}: open it with a newer Interlocking"
    )]
    NewerLayout {
        /// The journal.
        place: String,
        /// The journal's layout.
        found: u32,
        /// The newest layout that this program knows.
        known: u32,
    },
    /// The wall clock is behind the time of the newest record.
    #[error(
        "the clock shows {now_ms} ms, but {place} was written at {newest_ms} ms: \
         set the clock right before runs are removed by their age"
    )]
    ClockBehind {
        /// The journal.
        place: String,
        /// The clock's time, in milliseconds since 1970.
        now_ms: u64,
        /// The newest record's time, in milliseconds since 1970.
        newest_ms: u64,
    },
    /// A child run cannot be resumed from its records.
    #[error("child run `{run}` cannot be resumed from its records: {reason}")]
    Child {
        /// The child run.
        run: RunId,
        /// Why, and what to do.
        reason: String,
    },
    /// The storage failed in another way.
    #[error("the journal's storage failed: {reason}")]
    Storage {
        /// The storage's message, and what to do.
        reason: String,
    },
}

impl JournalError {
    /// Whether the journal itself works, and refuses the request: there is no such run, a letter with the same key came before,
    /// or the value cannot be stored. Any other error of its journal stops a run where it is; see
    /// [`Outcome::JournalFailed`](crate::Outcome::JournalFailed).
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::NoRun { .. } | Self::AlreadyPosted { .. } | Self::Encoding { .. })
    }
}
