//! How a journal refuses.

use crate::journal::payload::Digest;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a journal refused. What it had acknowledged before is still there.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "journal", rename_all = "snake_case")]
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
    /// There is no such run.
    #[error("there is no run `{run}` in {place}: list the runs there are")]
    NoRun {
        /// The run.
        run: RunId,
        /// The journal.
        place: String,
    },
    /// Another executor works on the run.
    #[error("run `{run}` is being executed by {holder}: wait until it ends, or stop it")]
    Held {
        /// The run.
        run: RunId,
        /// Who.
        holder: String,
    },
    /// The run has had a letter with this key.
    #[error("run `{run}` has had its {key} already: the first one counts")]
    AlreadyPosted {
        /// The run.
        run: RunId,
        /// The key.
        key: String,
    },
    /// A payload cannot be written or read as what it is.
    #[error("{what} cannot be stored: {reason}")]
    Encoding {
        /// The payload.
        what: String,
        /// The serializer's words.
        reason: String,
    },
    /// A record names a payload that is not there.
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
    /// A payload is not what its name says.
    #[error("payload {digest} in {place} was changed: its bytes are those of {found}; restore it from a copy")]
    PayloadTampered {
        /// The journal.
        place: String,
        /// The payload.
        digest: Digest,
        /// What its bytes amount to.
        found: Digest,
    },
    /// The storage is full.
    #[error("there is no room left for {place}: free some and resume the run; nothing that was recorded is lost")]
    Full {
        /// The journal.
        place: String,
    },
    /// The storage may not be written.
    #[error("{place} cannot be written: {reason}")]
    ReadOnly {
        /// The journal.
        place: String,
        /// Why, and what to do.
        reason: String,
    },
    /// What is stored is not what was written.
    #[error("{place} is damaged: {what}; {remedy}")]
    Damaged {
        /// The journal.
        place: String,
        /// What does not hold.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// The journal was written by a program that lays it out in a newer way.
    #[error(
        "{place} has layout {found}, and this program knows layouts up to {known}: open it with a newer Interlocking"
    )]
    NewerLayout {
        /// The journal.
        place: String,
        /// Its layout.
        found: u32,
        /// The newest known one.
        known: u32,
    },
    /// The wall clock shows a time before that of the records.
    #[error(
        "the clock shows {now_ms} ms, but {place} was written at {newest_ms} ms: \
         set the clock right before runs are removed by their age"
    )]
    ClockBehind {
        /// The journal.
        place: String,
        /// The clock's time, in milliseconds since 1970.
        now_ms: u64,
        /// The newest record's.
        newest_ms: u64,
    },
    /// What is recorded of a child run is not what it can be resumed from.
    #[error("child run `{run}` cannot be resumed from its records: {reason}")]
    Child {
        /// The child run.
        run: RunId,
        /// Why, and what to do.
        reason: String,
    },
    /// The storage failed otherwise.
    #[error("the journal's storage failed: {reason}")]
    Storage {
        /// Its words, and what to do.
        reason: String,
    },
}

impl JournalError {
    /// Whether the journal itself is well, and refuses what it was asked for: there is no such run, the letter came before,
    /// or the value is none that can be stored. Any other error of its journal stops a run where it stands; see
    /// [`Outcome::JournalFailed`](crate::Outcome::JournalFailed).
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::NoRun { .. } | Self::AlreadyPosted { .. } | Self::Encoding { .. })
    }
}
