//! Forks: a new run from a recorded point of another run.

use crate::journal::standing::begun;
use crate::journal::{By, Entry, Journal, JournalError, NodeOutcome, Origin, Record, ending};
use interlocking_core::run_id::RunId;
use serde::Serialize;
use std::collections::HashSet;
use thiserror::Error;

/// A point of a run's history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForkPoint {
    /// The end of the records, without the record of the run's end: an execution that failed is repeated.
    #[default]
    End,
    /// After this many records.
    Records(u64),
    /// Before the first record of a node's visit: the visit is repeated, and a person is asked again. If the visit was under way
    /// or failed and has no record, it is repeated at the end of the records.
    Before {
        /// The node.
        node: String,
        /// The visit, 1-based.
        visit: u32,
    },
}

/// A run that was forked from another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Forked {
    /// The new run.
    pub run: RunId,
    /// The original run.
    pub of: RunId,
    /// How many records of the original run lie before the point of the fork.
    pub records: u64,
}

/// Why a run was not forked. No new run exists then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ForkError {
    /// There is no such run.
    #[error("there is no run `{run}` to fork: list the runs there are")]
    NoRun {
        /// The run.
        run: RunId,
    },
    /// The run has no such point.
    #[error("run `{run}` cannot be forked after {asked} records: give 1 to {most}")]
    NoRecord {
        /// The run.
        run: RunId,
        /// The point that was asked for.
        asked: u64,
        /// The last possible point.
        most: u64,
    },
    /// The node has no such visit.
    #[error("run `{run}` has no record of visit {visit} of node `{node}`: look at its history for what it has")]
    NoVisit {
        /// The run.
        run: RunId,
        /// The node.
        node: String,
        /// The visit.
        visit: u32,
    },
    /// The new name is taken.
    #[error("there is a run `{run}` already: choose another name for the fork")]
    Taken {
        /// The name.
        run: RunId,
    },
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Creates run `new` with the records of run `of` up to `point`. [`Run::resume`](crate::Run::resume) continues it from there.
///
/// The payloads are shared, not copied. The new run gets everything that the original has done itself, and the answers that it
/// has received. It does not get waiting letters, sent messages, agents' sessions of unfinished executions (two runs would talk
/// in one conversation), or child runs of a map node that was under way, with what they have landed: the new run executes its
/// own.
///
/// If the process ends during a fork, the new run has only a part of the records. As long as it is not resumed, another fork with
/// the same name replaces it.
///
/// The new run's workspaces are created when it is resumed: [`Workspaces::make`](crate::Workspaces::make).
///
/// # Errors
///
/// [`ForkError`] where there is no such run or point, or the name is taken.
pub async fn fork(journal: &dyn Journal, of: &RunId, point: &ForkPoint, new: &RunId) -> Result<Forked, ForkError> {
    let mut records = journal.load(of).await?;
    if records.is_empty() {
        return Err(ForkError::NoRun { run: of.clone() });
    }
    let count = position(of, &records, point)?;
    records.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    let taken = || ForkError::Taken { run: new.clone() };
    let mut claim = journal.claim(new).await?;
    let present = journal.load(new).await?;
    if !present.is_empty() {
        if !is_unfinished(journal, &present).await? {
            return Err(taken());
        }
        drop(claim);
        journal.remove(new).await?;
        claim = journal.claim(new).await?;
        if !journal.load(new).await?.is_empty() {
            // Another process has created it in the meantime.
            return Err(taken());
        }
    }
    for (sequence, entry) in (0..).zip(taken_over(of, records)) {
        if let Err(error) = journal.append(Record { run: new.clone(), sequence, entry }).await {
            drop(claim);
            // The incomplete run is useless. If it cannot be removed either, the first error is the one to report.
            if let Err(left) = journal.remove(new).await {
                tracing::debug!(run = %new, error = %left, "a part of a fork stays");
            }
            return Err(error.into());
        }
    }
    Ok(Forked { run: new.clone(), of: of.clone(), records: count })
}

/// Whether these records are an incomplete fork, whose process has ended before it had written all of them.
async fn is_unfinished(journal: &dyn Journal, present: &[Record]) -> Result<bool, JournalError> {
    let Some(Entry::Started { origin: Some(Origin::Fork { of, records: count }), .. }) =
        present.first().map(|record| &record.entry)
    else {
        return Ok(false);
    };
    let mut records = journal.load(of).await?;
    records.truncate(usize::try_from(*count).unwrap_or(usize::MAX));
    let whole: Vec<Entry> = taken_over(of, records).collect();
    let is_beginning = present.iter().zip(&whole).all(|(record, entry)| record.entry == *entry);
    Ok(present.len() < whole.len() && is_beginning)
}

/// The number of records before the point.
fn position(run: &RunId, records: &[Record], point: &ForkPoint) -> Result<u64, ForkError> {
    let last = records.iter().rposition(|record| record.entry.ending().is_some());
    let end = last.filter(|_| ending(records).is_some()).unwrap_or(records.len());
    let most = end as u64;
    match point {
        ForkPoint::End => Ok(most),
        ForkPoint::Records(count) if (1..=most).contains(count) => Ok(*count),
        ForkPoint::Records(count) => Err(ForkError::NoRecord { run: run.clone(), asked: *count, most }),
        ForkPoint::Before { node, visit } => {
            let is_of = |by: &By| by.node == *node && by.visit == *visit;
            let first = records.iter().position(|record| match &record.entry {
                Entry::Outcome(outcome) => is_of(&outcome.by()),
                entry => entry.by().is_some_and(is_of),
            });
            let refused = || ForkError::NoVisit { run: run.clone(), node: node.clone(), visit: *visit };
            let is_under_way = || begun(&records[..end]).iter().any(is_of);
            first.map(|first| first as u64).or_else(|| is_under_way().then_some(most)).ok_or_else(refused)
        }
    }
}

/// The records, of these, that a fork copies.
pub(crate) fn kept(records: Vec<Record>) -> impl Iterator<Item = Record> {
    let ended: HashSet<By> = records
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Outcome(outcome) => Some(outcome.by()),
            Entry::Report { by, .. } => Some(by.clone()),
            _ => None,
        })
        .collect();
    records.into_iter().filter(move |record| match &record.entry {
        // Unfinished executions are repeated in the new run, with new sessions and new child runs, which land anew.
        Entry::Session { by, .. } | Entry::Decided { by, .. } | Entry::Landed { by, .. } => ended.contains(by),
        // The new run has neither ended nor been retried.
        Entry::Ended { .. } | Entry::Retried { .. } => false,
        _ => true,
    })
}

/// The entries of a fork of run `of` with these records.
pub(crate) fn taken_over(of: &RunId, records: Vec<Record>) -> impl Iterator<Item = Entry> {
    let (of, count) = (of.clone(), records.len() as u64);
    kept(records).map(move |Record { mut entry, .. }| {
        match &mut entry {
            Entry::Started { origin, .. } => *origin = Some(Origin::Fork { of: of.clone(), records: count }),
            // Each run numbers its own letters, and the new run has none yet.
            Entry::Answered { letter, .. } | Entry::Received { letter, .. } => *letter = 0,
            // A person who is asked in the new run has the full time to answer.
            Entry::Asked { asked_at_ms, .. } => *asked_at_ms = None,
            // Messages that the original has sent are not sent again.
            Entry::Outcome(NodeOutcome { posted, .. }) | Entry::Report { posted, .. } => posted.clear(),
            _ => {}
        }
        entry
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking_core::context::Commit;

    /// What a child landed for a map that is repeated would be landed twice.
    #[test]
    fn a_fork_has_the_landings_of_executions_that_are_not_repeated() {
        let run: RunId = "r".parse().unwrap();
        let by = |visit| By { node: "children".to_owned(), visit, attempt: 1 };
        let landed = |visit: u32| {
            let commit = Commit { workspace: "house".to_owned(), id: visit.to_string() };
            Entry::Landed { by: by(visit), child: "r-1".parse().unwrap(), commit }
        };
        let entries = [landed(1), Entry::Outcome(NodeOutcome::new(by(1), 0)), landed(2)];
        let records =
            (0..).zip(entries.clone()).map(|(sequence, entry)| Record { run: run.clone(), sequence, entry }).collect();
        assert_eq!(taken_over(&run, records).collect::<Vec<_>>(), entries[..2]);
    }
}
