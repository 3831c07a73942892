//! What agents cost: all that was really used up is recorded, but for what nobody was left to record.

use super::Followed;
use crate::calls::{Call, Returned};
use crate::dialogue::CUT_OFF;
use crate::history::spent;
use crate::world::What;
use interlocking_agents::Usage;
use interlocking_core::run_id::RunId;
use interlocking_runtime::budget::UsedUp;
use interlocking_runtime::journal::{By, Entry, Origin, Record};
use std::collections::{BTreeMap, BTreeSet};

/// What was used up, by executor and execution.
type Bills<'a> = BTreeMap<(u32, &'a RunId, By), Usage>;

impl Followed<'_> {
    /// What is recorded of the agent's calls is what the agent was really asked, each time by whoever asked.
    pub(super) fn bills(&self) -> Result<(), String> {
        let (made, recorded, left) = (self.made(), self.recorded(), self.left());
        for (whose @ (executor, run, by), usage) in &recorded {
            let made = made.get(whose).copied().unwrap_or_default();
            if *usage != made && !(left.contains(&(*executor, *run)) && usage.calls < made.calls) {
                return Err(format!("{by} of {run} made {made} with executor {executor}, and {usage} is recorded"));
            }
        }
        let history = &self.account.ended.history;
        for (whose @ (executor, run, by), usage) in &made {
            if history.settled.contains_key(executor)
                && !recorded.contains_key(whose)
                && !left.contains(&(*executor, *run))
            {
                return Err(format!("{by} of {run} made {usage} with executor {executor}, and nothing is recorded"));
            }
        }
        self.allowed(&made)?;
        self.reported()
    }

    /// What the agent was asked.
    fn made(&self) -> Bills<'_> {
        let (mut made, mut callers) = (Bills::new(), BTreeMap::new());
        for line in &self.account.log {
            match &line.what {
                // What was dropped with its run may go a step further when the next executor has begun.
                What::Asks { run, by, .. } => drop(callers.insert((run, by), line.executor)),
                // Until it ends by itself, it is one that is cut off.
                What::Called(Call { run, by, .. }) => {
                    let caller = callers.get(&(run, by)).copied().unwrap_or(line.executor);
                    *made.entry((caller, run, by.clone())).or_default() += CUT_OFF;
                }
                What::Returned(Returned { run, by, usage, .. }) => {
                    let caller = callers.get(&(run, by)).copied().unwrap_or(line.executor);
                    let bill: &mut Usage = made.entry((caller, run, by.clone())).or_default();
                    bill.calls = bill.calls.saturating_sub(CUT_OFF.calls);
                    bill.unpriced_calls = bill.unpriced_calls.saturating_sub(CUT_OFF.unpriced_calls);
                    *bill += *usage;
                }
                _ => {}
            }
        }
        made
    }

    /// What is recorded, and by which executor.
    fn recorded(&self) -> Bills<'_> {
        let mut executors = BTreeMap::new();
        for line in &self.account.log {
            if let What::Kept { run, sequence } = &line.what {
                executors.insert((run, *sequence), line.executor);
            }
        }
        let mut recorded = Bills::new();
        for record in self.account.records.values().flatten() {
            let Some(executor) = executors.get(&(&record.run, record.sequence)) else { continue };
            if let Some(by) = by(record) {
                *recorded.entry((*executor, &record.run, by)).or_default() += spent(&record.entry);
            }
        }
        recorded
    }

    /// The runs that were stopped with their map node, by executor, and theirs: nobody records what they were using up then.
    fn left(&self) -> BTreeSet<(u32, &RunId)> {
        let mut stopped = BTreeSet::new();
        for line in &self.account.log {
            if let What::Cancelled { run, by } = &line.what {
                stopped.insert((line.executor, run, by.node.as_str()));
            }
        }
        let executors = 1..=self.account.ended.history.world.executor();
        let mut left = BTreeSet::new();
        for executor in executors {
            for run in self.account.records.keys() {
                let mut child = run;
                while let Some((parent, node)) = self.parent(child) {
                    if stopped.contains(&(executor, parent, node)) {
                        left.insert((executor, run));
                    }
                    child = parent;
                }
            }
        }
        left
    }

    fn parent(&self, run: &RunId) -> Option<(&RunId, &str)> {
        match &self.account.records.get(run)?.first()?.entry {
            Entry::Started { origin: Some(Origin::Child { parent, node, .. }), .. } => Some((parent, node)),
            _ => None,
        }
    }

    /// No more calls were made than there might be.
    fn allowed(&self, made: &Bills<'_>) -> Result<(), String> {
        let history = &self.account.ended.history;
        for (executor, limit) in &history.allowed {
            let now: u32 = made.iter().filter(|((by, ..), _)| by == executor).map(|(_, usage)| usage.calls).sum();
            let before =
                self.recorded().iter().filter(|((by, ..), _)| by < executor).map(|(_, usage)| usage.calls).sum::<u32>();
            let used = now + before;
            if used > *limit {
                return Err(format!("executor {executor} made calls up to {used}, and might up to {limit}"));
            }
            if let Some(Some(used_up)) = history.settled.get(executor)
                && *used_up != (UsedUp::Calls { limit: *limit, used })
            {
                return Err(format!("executor {executor} says {used_up:?}, and made calls up to {used} of {limit}"));
            }
        }
        Ok(())
    }

    /// The run's own report has all that is recorded of it, and so has that of the run taken up again.
    fn reported(&self) -> Result<(), String> {
        let ended = self.account.ended;
        let records = self.account.records.get(&ended.history.root).map(Vec::as_slice).unwrap_or_default();
        let end = records.iter().position(|record| record.entry.ending().is_some()).unwrap_or(records.len());
        let sum = |records: &[Record]| records.iter().map(|record| spent(&record.entry)).sum::<Usage>();
        let (found, expected) = (ended.report.usage(), sum(&records[..end]));
        if found != expected {
            return Err(format!("the run reports {found}, and {expected} is recorded"));
        }
        match &ended.again {
            Ok(again) if !records.is_empty() && again.usage() != sum(records) => {
                Err(format!("taken up again, the run reports {}, and {} is recorded", again.usage(), sum(records)))
            }
            _ => Ok(()),
        }
    }
}

/// Whose calls a record tells of.
fn by(record: &Record) -> Option<By> {
    match &record.entry {
        Entry::Outcome(outcome) if !outcome.calls.is_empty() => Some(outcome.by()),
        Entry::Report { by, calls, .. } if !calls.is_empty() => Some(by.clone()),
        Entry::Spent { by, .. } => Some(by.clone()),
        _ => None,
    }
}
