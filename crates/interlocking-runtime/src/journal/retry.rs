//! Retries a failed run, together with the child runs of its map nodes that were under way.

use crate::journal::record::taken_by;
use crate::journal::standing::standing;
use crate::journal::{By, Entry, Journal, JournalError, LetterBody, Origin, Record, ending};
use crate::run::claims;
use interlocking_core::run_id::RunId;
use std::collections::BTreeSet;
use std::pin::Pin;

/// Executions of map nodes.
pub(crate) type Maps = BTreeSet<By>;

/// The entry that records that a run is retried.
pub(crate) async fn retried(journal: &dyn Journal, run: &RunId) -> Result<Entry, JournalError> {
    let letters = journal.letters(run, 0).await?;
    Ok(Entry::Retried { letters: letters.last().map_or(0, |posted| posted.number) })
}

/// Retries the child runs that these executions of `parent` had started or adopted, and their descendants, where they failed or
/// ended with the parent. Child runs that a user has cancelled are not retried, nor are those of a map that has reached its
/// quorum.
///
/// Each child's entry is written before its parent's, so that a retry that was interrupted can be repeated.
pub(crate) fn retry_children<'a>(
    journal: &'a dyn Journal,
    parent: &'a RunId,
    mut maps: Maps,
) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + 'a>> {
    Box::pin(async move {
        if !maps.is_empty() {
            // A reached quorum is final, so the failed child runs of such a map stay as they are.
            journal.load(parent).await?.iter().filter_map(quorum_reached).for_each(|by| {
                maps.remove(by);
            });
        }
        for child in journal.children(parent).await? {
            let Some(Origin::Child { node, visit, attempt, .. }) = child.origin.clone() else { continue };
            if !child.ended_without_result() || !maps.iter().any(|map| map.node == node) {
                continue;
            }
            let run = child.run;
            let records = journal.load(&run).await?;
            if !maps.contains(taken_by(&records).unwrap_or(&By { node, visit, attempt })) {
                continue;
            }
            let _claim = claims::claim(journal, &run).await?;
            let records = journal.load(&run).await?;
            let is_cancelled = journal.letters(&run, 0).await?.iter().any(|it| it.letter.body == LetterBody::Cancel);
            if is_cancelled || !matches!(ending(&records), Some("failed" | "cancelled")) {
                continue;
            }
            retry_children(journal, &run, maps_at_work(journal, &run, &records).await?).await?;
            let (sequence, entry) = (records.len() as u64, retried(journal, &run).await?);
            journal.append(Record { run: run.clone(), sequence, entry }).await?;
        }
        Ok(())
    })
}

/// The execution of a map node that has reached its quorum, if this record says so.
fn quorum_reached(record: &Record) -> Option<&By> {
    match &record.entry {
        Entry::Decided { by, reached: true, .. } => Some(by),
        _ => None,
    }
}

/// The executions of map nodes that were under way when the run with these records ended.
async fn maps_at_work(journal: &dyn Journal, run: &RunId, records: &[Record]) -> Result<Maps, JournalError> {
    let standing = standing(records);
    if standing.problem.is_none() {
        return Ok(standing.in_flight.into_iter().collect());
    }
    // The run cannot be replayed without its program, so this takes every execution with child runs and without a recorded
    // outcome.
    let mut maps = Maps::new();
    for child in journal.children(run).await? {
        maps.extend(taken_by(&journal.load(&child.run).await?).cloned());
        maps.extend(child.origin.and_then(|origin| match origin {
            Origin::Child { node, visit, attempt, .. } => Some(By { node, visit, attempt }),
            Origin::Fork { .. } => None,
        }));
    }
    for record in records {
        if let Entry::Outcome(outcome) = &record.entry {
            maps.remove(&outcome.by());
        }
    }
    Ok(maps)
}
