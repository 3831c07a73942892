//! Prepares a record before it is sent to the writer thread: computes its digests, parts and columns.

use crate::envelope::{self, Envelope};
use crate::payloads::digest::digest_of;
use crate::payloads::parts::{self, PartText};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Digest, Encoded, Entry, JournalError, Origin, Record, RecordedPayload};

/// A record, ready to be written.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) run: RunId,
    pub(crate) sequence: u64,
    pub(crate) row: Envelope,
    /// The payloads to be stored. The first one may resemble the input of `row.node`, and so may be stored as a delta against it.
    pub(crate) payloads: Vec<Named>,
    /// The run's graph and origin, where this is the run's first record.
    pub(crate) started: Option<(String, Option<Origin>)>,
}

/// A payload and its digest.
#[derive(Debug)]
pub(crate) struct Named {
    /// Payloads of the same place are likely to be similar: one may be stored as a delta against the one before.
    pub(crate) place: String,
    pub(crate) digest: Digest,
    /// Absent where the record names a payload that the journal must already have.
    pub(crate) text: Option<Encoded>,
    /// For a large payload: the text of its manifest, and its parts.
    pub(crate) parts: Option<(String, Vec<PartText>)>,
}

/// The place of routing tables. No place of a graph has this name.
pub(crate) const TABLE: &str = "table of the run";

impl Prepared {
    /// Prepares a record.
    pub(crate) fn of(record: Record) -> Result<Self, JournalError> {
        let Record { run, sequence, mut entry } = record;
        let encoding = |what: &str, error: serde_json::Error| JournalError::Encoding {
            what: format!("{what} of record {sequence} of run `{run}`"),
            reason: error.to_string(),
        };
        let mut payloads = Vec::new();
        let (mut started, mut table) = (None, None);
        if let Entry::Started { table: graph, origin, .. } = &entry {
            let text = serde_json::to_string(graph).map_err(|error| encoding("the table", error))?;
            let named = Named::of(TABLE.to_owned(), text.into()).map_err(|error| encoding("the table", error))?;
            table = Some(named.digest);
            payloads.push(named);
            started = Some((graph.graph.clone(), origin.clone()));
        }
        for (place, payload) in envelope::payloads(&mut entry) {
            let named = match payload {
                RecordedPayload::Json(text) => {
                    Named::of(place, text.clone()).map_err(|error| encoding("a payload", error))?
                }
                RecordedPayload::Stored(digest) => Named { place, digest: *digest, text: None, parts: None },
            };
            *payload = RecordedPayload::Stored(named.digest);
            payloads.push(named);
        }
        let row = envelope::of_entry(&entry, table).map_err(|error| encoding("the entry", error))?;
        Ok(Self { run, sequence, row, payloads, started })
    }

    /// The total size of a record's payloads, in bytes.
    pub(crate) fn size(record: &mut Record) -> usize {
        let texts = envelope::payloads(&mut record.entry);
        texts.iter().filter_map(|(_, payload)| payload.json()).map(|text| text.len()).sum()
    }
}

impl Named {
    fn of(place: String, text: Encoded) -> Result<Self, serde_json::Error> {
        let digest = digest_of(&text);
        let parts = match parts::split(&text) {
            Some((manifest, parts)) => Some((serde_json::to_string(&manifest)?, parts)),
            None => None,
        };
        Ok(Self { place, digest, text: Some(text), parts })
    }
}
