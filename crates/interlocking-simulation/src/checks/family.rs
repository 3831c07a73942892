//! Which child runs belong to which execution, at any line of the log, and whether that execution is at work.

use super::Followed;
use interlocking_core::frontier::Execution;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Entry, Origin, Record, ending};
use std::collections::BTreeMap;

/// By record: where in the log it was written.
pub(super) type Places<'a> = BTreeMap<(&'a RunId, u64), usize>;

/// The parent of a child, and the execution that owns the child: the execution that started it, or the last that
/// adopted it.
pub(super) fn owner(child: &[Record]) -> Option<(&RunId, By)> {
    let Entry::Started { origin: Some(origin), .. } = &child.first()?.entry else { return None };
    let Origin::Child { parent, node, visit, attempt, .. } = origin else { return None };
    let taken_over = child.iter().rev().find_map(|record| match &record.entry {
        Entry::Resumed { taken_by, .. } => taken_by.clone(),
        _ => None,
    });
    Some((parent, taken_over.unwrap_or_else(|| By { node: node.clone(), visit: *visit, attempt: *attempt })))
}

/// The records of a run that were written before this line of the log.
pub(super) fn before<'r>(records: &'r [Record], at: usize, kept: &Places<'_>) -> &'r [Record] {
    let is_before = |it: &Record| kept.get(&(&it.run, it.sequence)).is_some_and(|place| *place < at);
    &records[..records.partition_point(is_before)]
}

impl Followed<'_> {
    /// The execution that owned a child at this line of the log, and its run.
    pub(super) fn owner_at(&self, child: &RunId, at: usize, kept: &Places<'_>) -> Option<(&RunId, By)> {
        owner(before(self.account.records.get(child)?, at, kept))
    }

    /// Whether an execution still needs a child at this line of the log: it is at work, its run has not ended, and it was
    /// not decided that the rest of its children, with this one, is cancelled.
    pub(super) fn attends(&self, (run, by): (&RunId, &By), child: &RunId, at: usize, kept: &Places<'_>) -> bool {
        let records = before(&self.account.records[run], at, kept);
        let (Some(oracle), Some(last)) = (self.runs.get(run), records.len().checked_sub(1)) else { return false };
        let node = self.account.net(run).node_named(&by.node);
        let is_it = |it: &Execution| (Some(it.node), it.visit, it.attempt) == (node, by.visit, by.attempt);
        // A retry gives a map another chance that had failed to reach its quorum.
        let retried = records.iter().rposition(|it| matches!(it.entry, Entry::Retried { .. })).unwrap_or_default();
        let dismisses = |(nth, record): (usize, &Record)| match &record.entry {
            Entry::Decided { by: map, reached, ended } => {
                map == by && (*reached || nth > retried) && !ended.contains(child)
            }
            _ => false,
        };
        oracle.moments[last].running.iter().any(is_it)
            && ending(records).is_none()
            && !records.iter().enumerate().any(dismisses)
    }
}
