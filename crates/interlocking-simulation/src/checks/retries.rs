//! Retries: a retried run continues with the child runs of the executions that were running when it failed, and no
//! others.

use super::Followed;
use super::family::{Places, before, owner};
use interlocking_runtime::journal::{Entry, Record, ending};

impl Followed<'_> {
    /// Checks that a retried run's children are retried too, if they belong to map nodes that were running and failed
    /// or ended with the run. The children's records come first, so that an interrupted retry can be repeated.
    pub(super) fn retries(&self) -> Result<(), String> {
        let kept = &self.kept.records;
        for (child, records) in &self.account.records {
            let Some((parent, _)) = owner(records) else { continue };
            for at in retried(&self.account.records[parent], kept) {
                let stands = ending(before(records, at, kept));
                if self.was_at_work(records, at, kept) && matches!(stands, Some("failed" | "cancelled")) {
                    return Err(format!("{parent} is retried, and its child {child} is not"));
                }
            }
            for at in retried(records, kept) {
                if !self.was_at_work(records, at, kept) {
                    return Err(format!("{child} is retried, and the map node of its parent {parent} had not failed"));
                }
            }
        }
        Ok(())
    }

    /// Whether the parent of a child had stopped before this line of the log while the map node that owned the child
    /// was running.
    fn was_at_work(&self, child: &[Record], at: usize, kept: &Places<'_>) -> bool {
        let Some((parent, by)) = owner(before(child, at, kept)) else { return false };
        let records = before(&self.account.records[parent], at, kept);
        let stands = records.iter().rfind(|it| it.entry.ending().is_some() || is_retry(it));
        let at_work = stands.and_then(|record| self.runs.get(parent)?.stopped.get(&record.sequence));
        let has_its_quorum =
            |it: &Record| matches!(&it.entry, Entry::Decided { by: map, reached: true, .. } if *map == by);
        // A map with a quorum keeps the results that it got.
        if records.iter().any(has_its_quorum) {
            return false;
        }
        at_work.into_iter().flatten().any(|execution| {
            let name = self.account.net(parent).name(execution.node);
            (name, execution.visit, execution.attempt) == (by.node.as_str(), by.visit, by.attempt)
        })
    }
}

fn is_retry(record: &Record) -> bool {
    matches!(record.entry, Entry::Retried { .. })
}

/// The lines of the log at which a run was retried.
fn retried(records: &[Record], kept: &Places<'_>) -> Vec<usize> {
    records.iter().filter(|it| is_retry(it)).filter_map(|it| kept.get(&(&it.run, it.sequence)).copied()).collect()
}
