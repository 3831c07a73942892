//! Which children an execution of a map takes over from earlier executions, and how many of them work at once.

use super::Followed;
use super::family::{Places, before, owner};
use crate::numbers::is_anew;
use crate::world::{Gathered, LogEvent};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Entry, Origin, ending};
use std::collections::{BTreeMap, BTreeSet};

impl Followed<'_> {
    /// Checks that a map gathers children of its own, or, if it says `adopt`, the earlier children of equal items that
    /// neither failed nor were cancelled, except for items that are to run anew; and that no other child is taken over.
    pub(super) fn adoption(&self) -> Result<(), String> {
        let kept = &self.kept.records;
        for ((run, by), all) in &self.gathered {
            all.iter().flatten().try_for_each(|child| self.gathers(run, by, child, kept))?;
        }
        for (child, records) in &self.account.records {
            let Some((parent, by)) = owner(records) else { continue };
            if self.account.started_by(child).is_some_and(|(_, first)| first != by) && !self.may_adopt(parent, &by) {
                return Err(format!("{by} of {parent} takes over {child}, and does not adopt"));
            }
        }
        Ok(())
    }

    fn gathers(&self, run: &RunId, by: &By, child: &Gathered, kept: &Places<'_>) -> Result<(), String> {
        let Some((parent, first)) = self.account.started_by(&child.run) else { return Ok(()) };
        let adopts = self.may_adopt(run, by) && !is_anew(child.item);
        if (&parent, &first) != (run, by) {
            let is_earlier = first.node == by.node && (first.visit, first.attempt) < (by.visit, by.attempt);
            return match adopts && is_earlier && parent == *run {
                true => Ok(()),
                false => Err(format!("{by} of {run} gathers {} of {first} of {parent}", child.run)),
            };
        }
        let Some(&at) = kept.get(&(&child.run, 0)).filter(|_| adopts) else { return Ok(()) };
        let item = |run: &RunId| match &self.account.records.get(run)?.first()?.entry {
            Entry::Started { origin: Some(Origin::Child { parent, node, key, number, .. }), .. } => {
                Some((parent.clone(), node.clone(), key.clone(), *number))
            }
            _ => None,
        };
        let is_there = |other: &RunId| {
            let records = before(&self.account.records[other], at, kept);
            !records.is_empty() && !matches!(ending(records), Some("failed" | "cancelled"))
        };
        let equal = self.runs.keys().find(|other| item(other) == item(&child.run) && is_there(other));
        match equal {
            Some(other) => Err(format!("{by} of {run} runs {} anew, and could have adopted {other}", child.run)),
            None => Ok(()),
        }
    }

    /// Checks that no map has more children at work at once than its table allows.
    pub(super) fn concurrency(&self) -> Result<(), String> {
        let (root, mut executor) = (&self.account.ended.history.root, 0);
        let mut at_work: BTreeMap<(&RunId, By), BTreeSet<&RunId>> = BTreeMap::new();
        for line in &self.account.log {
            let LogEvent::Kept { run, sequence } = &line.what else { continue };
            let Some(records) = self.account.records.get(run) else { continue };
            let entry = records.get(*sequence as usize).map(|record| &record.entry);
            // Tasks that an earlier executor left behind may write before the present one does.
            if line.executor != executor || run == root && matches!(entry, Some(Entry::Resumed { .. })) {
                (executor, at_work) = (line.executor, BTreeMap::new());
            }
            match entry {
                Some(Entry::Started { .. } | Entry::Resumed { .. }) => {
                    let Some((parent, by)) = owner(&records[..=*sequence as usize]) else { continue };
                    let net = self.account.net(parent);
                    let limit = net.node_named(&by.node).and_then(|node| net.row(node).concurrency);
                    let children = at_work.entry((parent, by.clone())).or_default();
                    children.insert(run);
                    if limit.is_some_and(|limit| children.len() > limit as usize) {
                        return Err(format!("{by} of {parent} has {} children at work at once", children.len()));
                    }
                }
                Some(Entry::Ended { .. }) => {
                    at_work.values_mut().for_each(|children| children.retain(|child| *child != run))
                }
                _ => {}
            }
        }
        Ok(())
    }
}
