//! A run that has failed is resumed, and with it the child runs that its map nodes were at.

use crate::journal::record::taken_by;
use crate::journal::standing::standing;
use crate::journal::{By, Entry, Journal, JournalError, LetterBody, Origin, Record, ending};
use crate::run::claims;
use interlocking_core::run_id::RunId;
use std::collections::BTreeSet;
use std::pin::Pin;

/// Executions of map nodes.
pub(crate) type Maps = BTreeSet<By>;

/// The entry that says of a run that it is retried now.
pub(crate) async fn retried(journal: &dyn Journal, run: &RunId) -> Result<Entry, JournalError> {
    let letters = journal.letters(run, 0).await?;
    Ok(Entry::Retried { letters: letters.last().map_or(0, |posted| posted.number) })
}

/// Retries the child runs that these executions of `parent` had started or adopted, and that failed, or ended with it; and theirs.
/// Not those that somebody has cancelled, and none of a map that has its quorum.
///
/// Each is written before its parent, so that whoever is stopped amid this can begin once more.
pub(crate) fn retry_children<'a>(
    journal: &'a dyn Journal,
    parent: &'a RunId,
    mut maps: Maps,
) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + 'a>> {
    Box::pin(async move {
        if !maps.is_empty() {
            // What such a map was given stays as it is, the children included that did not come to anything.
            journal.load(parent).await?.iter().filter_map(has_its_quorum).for_each(|by| {
                maps.remove(by);
            });
        }
        for child in journal.children(parent).await? {
            let Some(Origin::Child { node, visit, attempt, .. }) = child.origin.clone() else { continue };
            if !child.came_to_nothing() || !maps.iter().any(|map| map.node == node) {
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

/// The execution of a map node that need not wait for the rest of its children any more, if this says so.
fn has_its_quorum(record: &Record) -> Option<&By> {
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
    // Then every one whose outcome is not recorded.
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
