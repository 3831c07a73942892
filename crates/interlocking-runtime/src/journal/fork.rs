//! A new run from a recorded point of another.

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
    /// Where the run stands, its end left out: what failed is done once more.
    #[default]
    End,
    /// After so many records.
    Records(u64),
    /// Before a visit of a node has left anything in the journal: it is made once more, and its person is asked again. One that was
    /// under way, or failed, and has left nothing, is made once more where the run stands.
    Before {
        /// The node.
        node: String,
        /// The visit, 1-based.
        visit: u32,
    },
}

/// A run that has another one's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Forked {
    /// The new run.
    pub run: RunId,
    /// The other run.
    pub of: RunId,
    /// How many of the other's records it has taken over.
    pub records: u64,
}

/// Why a run was not forked. There is no new run.
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
        /// The last that there is.
        most: u64,
    },
    /// The node was not visited so often.
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

/// Makes run `new`, with the records of run `of` up to `point`: [`Run::resume`](crate::Run::resume) takes it up from there.
///
/// The payloads are shared, not copied. Taken over is everything that the run itself has done, what it was answered
/// included. Not taken over are letters that wait, messages that it has sent, agents' sessions of what had not come to its end (two
/// runs would talk in one conversation), and child runs of a map node that was at work: they are run again as the new run's own.
///
/// A process that ends in the middle leaves a run that has fewer of the records. As long as nobody has taken it up, its name is free for
/// another fork, which replaces it.
///
/// The new run's workspaces are made when it is resumed: [`Workspaces::make`](crate::Workspaces::make).
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
            // Somebody else was faster.
            return Err(taken());
        }
    }
    for (sequence, entry) in (0..).zip(taken_over(of, records)) {
        if let Err(error) = journal.append(Record { run: new.clone(), sequence, entry }).await {
            drop(claim);
            // What was written is of no use to anybody; that it cannot be removed is the lesser trouble.
            if let Err(left) = journal.remove(new).await {
                tracing::debug!(run = %new, error = %left, "a part of a fork stays");
            }
            return Err(error.into());
        }
    }
    Ok(Forked { run: new.clone(), of: of.clone(), records: count })
}

/// Whether these records are the beginning of a fork, and no more: whoever made it has ended amid that.
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

/// How many records lie before the point.
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

/// What a fork takes over of these records.
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
        // Of its children, the new run has those only that it runs itself.
        Entry::Session { by, .. } | Entry::Decided { by, .. } => ended.contains(by),
        // That it failed and was retried is the other's affair.
        Entry::Ended { .. } | Entry::Retried { .. } => false,
        _ => true,
    })
}

/// The entries as those of another run.
pub(crate) fn taken_over(of: &RunId, records: Vec<Record>) -> impl Iterator<Item = Entry> {
    let (of, count) = (of.clone(), records.len() as u64);
    kept(records).map(move |Record { mut entry, .. }| {
        match &mut entry {
            Entry::Started { origin, .. } => *origin = Some(Origin::Fork { of: of.clone(), records: count }),
            // Letters are numbered a run: the new one's first is its own.
            Entry::Answered { letter, .. } | Entry::Received { letter, .. } => *letter = 0,
            // Who is asked in the new run has all the time again.
            Entry::Asked { asked_at_ms, .. } => *asked_at_ms = None,
            // What the other has sent is not sent again.
            Entry::Outcome(NodeOutcome { posted, .. }) | Entry::Report { posted, .. } => posted.clear(),
            _ => {}
        }
        entry
    })
}
