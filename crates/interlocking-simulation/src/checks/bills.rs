//! The cost of agents: all real usage is recorded, and so is each turn that was killed with its process after it had
//! begun a session.

use super::Followed;
use crate::calls::{Call, Returned};
use crate::dialogue::INTERRUPTED_USAGE;
use crate::spending::{by, killed, spent};
use crate::world::LogEvent;
use interlocking_agents::Usage;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::budget::BudgetExceeded;
use interlocking_runtime::journal::By;
use std::collections::BTreeMap;

/// The usage, by executor and execution.
type Bills<'a> = BTreeMap<(u32, &'a RunId, By), Usage>;

impl Followed<'_> {
    /// Checks that the recorded calls are the calls that the agent really got, for each executor and execution.
    pub(super) fn bills(&self) -> Result<(), String> {
        let (made, recorded) = (self.made(), self.recorded());
        for (whose @ (executor, run, by), usage) in &recorded {
            let made = made.get(whose).copied().unwrap_or_default();
            if *usage != made {
                return Err(format!("{by} of {run} made {made} with executor {executor}, and {usage} is recorded"));
            }
        }
        let history = &self.account.ended.history;
        for (whose @ (executor, run, by), usage) in &made {
            let is_settled = history.settled.contains_key(executor) && !self.was_cut_off_late(*executor, run, by);
            if is_settled && !recorded.contains_key(whose) {
                return Err(format!("{by} of {run} made {usage} with executor {executor}, and nothing is recorded"));
            }
        }
        self.allowed(&made)?;
        self.reported()
    }

    /// Whether an advisory execution may have continued after its run's end, and then ended with its process or had its
    /// record refused.
    fn was_cut_off_late(&self, executor: u32, run: &RunId, by: &By) -> bool {
        let node = self.account.net(run).node_named(&by.node);
        let is_beside = node.is_some_and(|node| self.account.net(run).row(node).kind == NodeKind::Advisory);
        let has_finished = self.runs.get(run).is_some_and(|oracle| matches!(oracle.ended, Some((None, false))));
        let ends = self.account.ended.history.lasting.is_none_or(|first| executor < first);
        let is_refused = |what: &LogEvent| matches!(what, LogEvent::Refused { run: of, .. } if of == run);
        is_beside && has_finished && (ends || self.account.log.iter().any(|line| is_refused(&line.what)))
    }

    /// The calls that the agent really got.
    fn made(&self) -> Bills<'_> {
        let (mut made, mut callers) = (Bills::new(), BTreeMap::new());
        for line in &self.account.log {
            match &line.what {
                // A task that was dropped with its run may take one more step after the next executor has begun.
                LogEvent::Asks { run, by, .. } => drop(callers.insert((run, by), line.executor)),
                // Until the call ends, it counts as interrupted.
                LogEvent::Called(Call { run, by, .. }) => {
                    let caller = callers.get(&(run, by)).copied().unwrap_or(line.executor);
                    *made.entry((caller, run, by.clone())).or_default() += INTERRUPTED_USAGE;
                }
                LogEvent::Returned(Returned { run, by, usage, .. }) => {
                    let caller = callers.get(&(run, by)).copied().unwrap_or(line.executor);
                    let bill: &mut Usage = made.entry((caller, run, by.clone())).or_default();
                    bill.calls = bill.calls.saturating_sub(INTERRUPTED_USAGE.calls);
                    bill.unpriced_calls = bill.unpriced_calls.saturating_sub(INTERRUPTED_USAGE.unpriced_calls);
                    *bill += *usage;
                }
                _ => {}
            }
        }
        made
    }

    /// The recorded usage, by the executor that asked: a late record may be written while the next executor runs in the
    /// same process.
    fn recorded(&self) -> Bills<'_> {
        let records = self.account.records.values().flatten();
        let records: BTreeMap<_, _> = records.map(|record| ((&record.run, record.sequence), record)).collect();
        let (mut recorded, mut callers) = (Bills::new(), BTreeMap::new());
        for line in &self.account.log {
            match &line.what {
                LogEvent::Asks { run, by, .. } => drop(callers.insert((run, by.clone()), line.executor)),
                LogEvent::Kept { run, sequence } => {
                    let Some(record) = records.get(&(run, *sequence)) else { continue };
                    let Some(by) = by(record) else { continue };
                    let caller = callers.get(&(run, by.clone())).copied().unwrap_or(line.executor);
                    *recorded.entry((caller, run, by)).or_default() += spent(&record.entry);
                }
                _ => {}
            }
        }
        recorded
    }

    /// Checks that no executor made more calls than its limit.
    fn allowed(&self, made: &Bills<'_>) -> Result<(), String> {
        let history = &self.account.ended.history;
        for (executor, limit) in &history.allowed {
            let now: u32 = made.iter().filter(|((by, ..), _)| by == executor).map(|(_, usage)| usage.calls).sum();
            let recorded = self.recorded();
            let before = recorded.iter().filter(|((by, ..), _)| by < executor).map(|(_, usage)| usage.calls);
            let killed = self.killed().into_iter().filter(|(_, by)| by < executor).count() as u32;
            let used = now + before.sum::<u32>() + killed;
            if used > *limit {
                return Err(format!("executor {executor} made calls up to {used}, and might up to {limit}"));
            }
            if let Some(Some(used_up)) = history.settled.get(executor)
                && *used_up != (BudgetExceeded::Calls { limit: *limit, used })
            {
                return Err(format!("executor {executor} says {used_up:?}, and made calls up to {used} of {limit}"));
            }
        }
        Ok(())
    }

    /// The killed turns of all runs: where in the log each had begun its session, and by which executor.
    fn killed(&self) -> Vec<(usize, u32)> {
        let kept = self.places();
        let records = self.account.records.values();
        let killed = records.flat_map(|records| killed(records).into_iter().map(move |at| &records[at]));
        killed.filter_map(|record| kept.get(&(&record.run, record.sequence)).copied()).collect()
    }

    /// By record: where in the log it was written, and by which executor.
    fn places(&self) -> BTreeMap<(&RunId, u64), (usize, u32)> {
        let log = self.account.log.iter().enumerate();
        let kept = log.filter_map(|(at, line)| match &line.what {
            LogEvent::Kept { run, sequence } => Some(((run, *sequence), (at, line.executor))),
            _ => None,
        });
        kept.collect()
    }

    /// Checks that the run's report has all usage that is recorded for it and its children, and so has the report of
    /// the resumed run. Late records may come before the report or after it.
    fn reported(&self) -> Result<(), String> {
        let (ended, kept) = (self.account.ended, self.places());
        let root = self.account.records.get(&ended.history.root).map(Vec::as_slice).unwrap_or_default();
        let end = root.iter().rfind(|record| record.entry.ending().is_some());
        let end = end.and_then(|record| kept.get(&(&record.run, record.sequence)));
        let (end, last) = end.map_or((usize::MAX, u32::MAX), |(at, executor)| (*at, *executor));
        let killed = self.killed();
        // A turn of the last executor cannot have been killed before the run's end.
        let killed_late = killed.iter().filter(|(at, executor)| *at > end || *executor == last).count();
        let before: Usage = killed.iter().skip(killed_late).map(|_| INTERRUPTED_USAGE).sum();
        let (mut all, mut late, mut possible) = (before, vec![INTERRUPTED_USAGE; killed_late], vec![before]);
        all += late.iter().copied().sum();
        for record in self.account.records.values().flatten() {
            let spent = spent(&record.entry);
            all += spent;
            match kept.get(&(&record.run, record.sequence)) {
                Some((at, _)) if *at <= end => possible[0] += spent,
                _ if spent == Usage::default() => {}
                _ => late.push(spent),
            }
        }
        for spent in late {
            possible.extend(possible.clone().into_iter().map(|others| others + spent));
        }
        let found = ended.report.usage();
        if !possible.contains(&found) {
            return Err(format!("the run reports {found}, and {} is recorded, later {all}", possible[0]));
        }
        match &ended.again {
            Ok(again) if !root.is_empty() && again.usage() != all => {
                Err(format!("resumed, the run reports {}, and {all} is recorded", again.usage()))
            }
            _ => Ok(()),
        }
    }
}
