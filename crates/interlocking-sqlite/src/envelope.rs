//! Converts a record to a row of the table `record`, and back.
//!
//! The most common record, a node's outcome with one token and nothing else, needs only the plain columns. Every other record is
//! stored as JSON in the column `more`, with payloads as digests, so that any client can read it. The other columns then repeat
//! the fields that have a column.

use crate::failure::Trouble;
use interlocking_core::context::Commit;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{AddedItems, By, Digest, Entry, NodeOutcome, Origin, RecordedPayload, TokenRecord};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The columns of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The kind of entry; absent for the most common kind, an outcome.
    pub(crate) entry: Option<Cow<'static, str>>,
    pub(crate) node: Option<String>,
    pub(crate) visit: Option<u32>,
    pub(crate) attempt: Option<u32>,
    pub(crate) alternative: Option<u16>,
    pub(crate) took_ms: Option<u64>,
    pub(crate) place: Option<String>,
    pub(crate) digest: Option<Digest>,
    pub(crate) more: Option<String>,
}

/// A run's first record in the column `more`. It has the digest of its table, because many runs have the same table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartedRow<'row> {
    pub(crate) table: Digest,
    pub(crate) input: Cow<'row, RecordedPayload>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) workspaces: Vec<Commit>,
}

/// A record as read from its row.
#[expect(clippy::large_enum_variant, reason = "all but one of a run are entries")]
pub(crate) enum Read {
    /// The complete entry.
    Entry(Entry),
    /// A run's first record, whose table is still to be fetched.
    Started(StartedRow<'static>),
}

/// The value of the column `entry` for a run's first record.
pub(crate) const STARTED: &str = "started";

/// The row of an entry whose payloads are all digests. `table` is the digest of the run's table, for a run's first entry.
pub(crate) fn of_entry(entry: &Entry, table: Option<Digest>) -> Result<Envelope, serde_json::Error> {
    let mut row = Envelope { entry: word(entry)?.map(Cow::Borrowed), ..Envelope::default() };
    match entry {
        Entry::Started { input, origin, workspaces, .. } => {
            row.digest = name(input);
            if let Some(table) = table {
                let (origin, workspaces) = (origin.clone(), workspaces.clone());
                let started = StartedRow { table, input: Cow::Borrowed(input), origin, workspaces };
                row.more = Some(serde_json::to_string(&started)?);
            }
            return Ok(row);
        }
        Entry::Outcome(outcome) => {
            row.node = Some(outcome.node.clone());
            row.visit = Some(outcome.visit);
            row.attempt = Some(outcome.attempt);
            row.alternative = outcome.alternative;
            row.took_ms = Some(outcome.took_ms);
            if let [TokenRecord { place, payload }, ..] = &outcome.tokens[..] {
                row.place = Some(place.clone());
                row.digest = name(payload);
            }
            if is_plain(outcome) {
                return Ok(row);
            }
        }
        Entry::Session { by, .. }
        | Entry::Report { by, .. }
        | Entry::Spent { by, .. }
        | Entry::Landed { by, .. }
        | Entry::Decided { by, .. } => {
            row.by(by);
        }
        Entry::Once { by, value: payload, .. }
        | Entry::Asked { by, question: payload, .. }
        | Entry::Answered { by, answer: payload, .. } => {
            row.by(by);
            row.digest = name(payload);
        }
        Entry::Received { node, message, .. } => {
            row.node = Some(node.clone());
            row.digest = name(message);
        }
        Entry::Resumed { .. } | Entry::Retried { .. } | Entry::Ended { .. } => {}
        // `word` has refused it.
        _ => {}
    }
    row.more = Some(serde_json::to_string(entry)?);
    Ok(row)
}

/// The entry of a row.
pub(crate) fn to_entry(row: Envelope) -> Result<Read, String> {
    let Envelope { entry, node, visit, attempt, alternative, took_ms, place, digest, more } = row;
    match more {
        Some(more) if entry.as_deref() == Some(STARTED) => {
            serde_json::from_str(&more).map(Read::Started).map_err(|error| error.to_string())
        }
        Some(more) => serde_json::from_str(&more).map(Read::Entry).map_err(|error| error.to_string()),
        None => {
            let plain = (|| {
                let tokens = vec![TokenRecord { place: place?, payload: RecordedPayload::Stored(digest?) }];
                let (node, visit, attempt, took_ms) = (node?, visit?, attempt?, took_ms?);
                let mut outcome = NodeOutcome::new(By { node, visit, attempt }, took_ms);
                (outcome.alternative, outcome.tokens) = (alternative, tokens);
                Some(outcome)
            })();
            match plain {
                Some(outcome) if entry.is_none() => Ok(Read::Entry(Entry::Outcome(outcome))),
                _ => Err("columns are missing".to_owned()),
            }
        }
    }
}

impl Envelope {
    fn by(&mut self, by: &By) {
        (self.node, self.visit, self.attempt) = (Some(by.node.clone()), Some(by.visit), Some(by.attempt));
    }
}

/// Whether the plain columns can hold the whole outcome.
fn is_plain(outcome: &NodeOutcome) -> bool {
    matches!(outcome.only_token(), Some(TokenRecord { payload: RecordedPayload::Stored(_), .. }))
}

fn name(payload: &RecordedPayload) -> Option<Digest> {
    match payload {
        RecordedPayload::Stored(digest) => Some(*digest),
        RecordedPayload::Json(_) => None,
    }
}

/// The value of the column `entry` for an entry. A kind of entry that is not known is refused: this code cannot tell which payloads
/// it names, nor whether it ends the run.
fn word(entry: &Entry) -> Result<Option<&'static str>, serde_json::Error> {
    Ok(Some(match entry {
        Entry::Outcome(_) => return Ok(None),
        Entry::Started { .. } => STARTED,
        Entry::Resumed { .. } => "resumed",
        Entry::Retried { .. } => "retried",
        Entry::Session { .. } => "session",
        Entry::Once { .. } => "once",
        Entry::Asked { .. } => "asked",
        Entry::Answered { .. } => "answered",
        Entry::Received { .. } => "received",
        Entry::Report { .. } => "report",
        Entry::Spent { .. } => "spent",
        Entry::Landed { .. } => "landed",
        Entry::Decided { .. } => "decided",
        Entry::Ended { .. } => entry.ending().unwrap_or("finished"),
        _ => return Err(serde::ser::Error::custom("it is of a kind that is newer than the program's SQLite journal")),
    }))
}

/// How a run ended, where `entry` is that column of its last record without addenda; `None` if the run has not ended.
pub(crate) fn ending(entry: Option<&str>) -> Option<&str> {
    entry.filter(|entry| matches!(*entry, "finished" | "failed" | "cancelled"))
}

/// The error for a record of `run` that is missing or cannot be read.
pub(crate) fn damaged(run: &RunId, sequence: u64, reason: &str) -> Trouble {
    Trouble::Damaged(format!("record {sequence} of run `{run}` cannot be read: {reason}"))
}

/// Every payload of an entry, each with its place: payloads of the same place are likely to be similar.
pub(crate) fn payloads(entry: &mut Entry) -> Vec<(String, &mut RecordedPayload)> {
    match entry {
        Entry::Started { table, input, .. } => {
            let entry = table.nodes.iter().find(|node| node.entry).map_or("input", |node| &node.name);
            vec![(entry.to_owned(), input)]
        }
        Entry::Once { by, name, value } => vec![(format!("once {}.{name}", by.node), value)],
        Entry::Asked { by, question, schema, .. } => {
            vec![(format!("question {}", by.node), question), (format!("schema {}", by.node), schema)]
        }
        Entry::Answered { by, answer, .. } => vec![(format!("answer {}", by.node), answer)],
        Entry::Received { node, message, .. } => vec![(format!("message {node}"), message)],
        Entry::Outcome(NodeOutcome { tokens, spawned, posted, memory, added, .. }) => {
            let tokens = tokens.iter_mut().chain(spawned).map(|token| (token.place.clone(), &mut token.payload));
            let memory = memory.as_mut().map(|memory| (format!("memory {}", memory.group), &mut memory.value));
            let posted = posted.iter_mut().map(|sent| (format!("sent {}", sent.node), &mut sent.message));
            let added = added.iter_mut().flat_map(|added| {
                let AddedItems { to, items } = &mut **added;
                items.iter_mut().map(|item| (format!("item {}", to.node), &mut item.entry))
            });
            tokens.chain(memory).chain(posted).chain(added).collect()
        }
        Entry::Report { by, report, memory, posted, .. } => {
            let report = report.as_mut().map(|report| (format!("report {}", by.node), report));
            let memory = memory.as_mut().map(|memory| (format!("memory {}", memory.group), &mut memory.value));
            let posted = posted.iter_mut().map(|sent| (format!("sent {}", sent.node), &mut sent.message));
            report.into_iter().chain(memory).chain(posted).collect()
        }
        Entry::Ended { output: Some(output), .. } => vec![("output".to_owned(), output)],
        Entry::Resumed { .. }
        | Entry::Retried { .. }
        | Entry::Session { .. }
        | Entry::Spent { .. }
        | Entry::Landed { .. }
        | Entry::Decided { .. }
        | Entry::Ended { .. } => Vec::new(),
        // `word` refuses it.
        _ => Vec::new(),
    }
}

/// The digests that a row names.
pub(crate) fn names(row: Envelope) -> Result<Vec<Digest>, String> {
    let first = row.digest;
    let (mut entry, table) = match to_entry(row)? {
        Read::Started(row) => return Ok([row.table].into_iter().chain(name(&row.input)).collect()),
        Read::Entry(entry) => (entry, first),
    };
    let others = payloads(&mut entry).into_iter().filter_map(|(_, payload)| name(payload)).collect::<Vec<_>>();
    Ok(table.into_iter().chain(others).collect())
}
