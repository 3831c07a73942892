//! The end of a run: in its report, in its records, in the journal's list, and when it is resumed.

use super::{Followed, ready};
use crate::graph::Output;
use crate::oracle::Oracle;
use crate::world::Logged;
use interlocking_core::failure::FailureKind;
use interlocking_core::table::NodeKind;
use interlocking_runtime::Outcome;
use interlocking_runtime::journal::{By, Entry, Journal};
use std::collections::BTreeMap;

impl Followed<'_> {
    /// Checks that the run's outcome agrees with its records.
    pub(super) fn ends(&self) -> Result<(), String> {
        let (history, report) = (&self.account.ended.history, &self.account.ended.report);
        let Some(oracle) = self.runs.get(&history.root) else {
            return match report.outcome {
                Outcome::Cancelled if history.cancelled => Ok(()),
                _ => Err(format!("nothing is recorded, and the run ends as {:?}", report.outcome)),
            };
        };
        let Some((failure, cancelled)) = &oracle.ended else {
            return Err(format!("it ends as {:?}, and no record says so", report.outcome));
        };
        match &report.outcome {
            Outcome::Finished(output) if failure.is_none() && !cancelled => {
                if Some(output.number) != oracle.exit {
                    return Err(format!("it ends with {}, and {:?} came to its exit", output.number, oracle.exit));
                }
                self.reports(oracle, output)?;
            }
            Outcome::Failed(failed) if failure.as_ref() == Some(failed) => {}
            Outcome::Cancelled if *cancelled && history.cancelled => return Ok(()),
            other => {
                return Err(format!("it ends as {other:?}, and its record says {failure:?}, cancelled: {cancelled}"));
            }
        }
        if report.visits != oracle.visits() {
            return Err(format!("it tells of visits {:?}, and there were {:?}", report.visits, oracle.visits()));
        }
        Ok(())
    }

    /// Checks that the output has every report, or the reason why there is none: that the executor had waited for it
    /// until the deadline.
    fn reports(&self, oracle: &Oracle<'_>, output: &Output) -> Result<(), String> {
        let (history, kept) = (&self.account.ended.history, &self.kept);
        let limit_ms = history.surroundings.deadline.as_millis() as u64;
        let late: Result<u64, FailureKind> = Err(FailureKind::Timeout { limit_ms });
        let records = &self.account.records[&history.root];
        let last = |is: fn(&Entry) -> bool| {
            let record = records.iter().rfind(|record| is(&record.entry))?;
            Some(&self.account.log[*kept.records.get(&(&history.root, record.sequence))?])
        };
        // With this record, the executor that ended the run was at the exit, and waited.
        let waits = last(|it| matches!(it, Entry::Started { .. } | Entry::Resumed { .. } | Entry::Outcome(_)));
        let is_over = |line: &Logged| {
            waits.is_some_and(|waits| line.executor != waits.executor || line.at >= waits.at + limit_ms)
        };
        let gives_up = last(|it| it.ending().is_some()).is_some_and(is_over);
        let mut expected = Vec::new();
        for (node, row) in history.world.nets[0].table().nodes.iter().enumerate() {
            if row.report.is_none() {
                continue;
            }
            if row.kind == NodeKind::Observer {
                let watched = oracle.watched.get(&node).copied().unwrap_or(Ok(0));
                expected.push((&row.name, None, watched.map_err(|()| FailureKind::Handler), gives_up));
                continue;
            }
            // An execution that was not done at the deadline may be recorded later, if its process lives that long.
            let undone = oracle.beside.keys().map(|key| (*key, late.clone()));
            let told: BTreeMap<_, _> = undone.chain(oracle.reports.clone()).collect();
            let told = told.into_iter().filter(|(key, _)| usize::from(key.0) == node);
            expected.extend(told.map(|(key, told)| {
                let by = By { node: row.name.clone(), visit: key.1, attempt: key.2 };
                let recorded = kept.done.get(&(&history.root, by)).map(|at| &self.account.log[*at]);
                // One that is beyond its bound has no record, and nobody waits for it.
                let may_be_late = recorded.map_or(oracle.beside.contains_key(&key), is_over);
                (&row.name, Some(key.1), told, gives_up && may_be_late)
            }));
        }
        let same = expected.len() == output.reports.len()
            && expected.iter().zip(&output.reports).all(|((name, visit, told, may_be_late), (of, at, result))| {
                let is_told = if *result == late { *may_be_late } else { result == told };
                *name == of && visit.is_none_or(|visit| visit == *at) && is_told
            });
        if same { Ok(()) } else { Err(format!("it was told {:?}, and {expected:?} was reported", output.reports)) }
    }

    /// Checks that a run that has ended reports the same when it is resumed.
    pub(super) fn recalled(&self) -> Result<(), String> {
        let ended = self.account.ended;
        if !self.account.records.contains_key(&ended.history.root) {
            return Ok(());
        }
        let again = ended.again.as_ref().map_err(|why| format!("resumed after its end: {why}"))?;
        if again.outcome != ended.report.outcome {
            return Err(format!("it ended as {:?}, and is recalled as {:?}", ended.report.outcome, again.outcome));
        }
        Ok(())
    }

    /// Checks that the journal's list has the end of each run, whatever was recorded later.
    pub(super) fn listed(&self) -> Result<(), String> {
        let runs = ready(self.account.ended.history.journal.kept.runs()).map_err(|error| error.to_string())?;
        for summary in runs {
            let ended = self.runs.get(&summary.run).and_then(|oracle| oracle.ended.as_ref());
            let expected = ended.map(|ended| match ended {
                (Some(_), _) => "failed",
                (None, true) => "cancelled",
                (None, false) => "finished",
            });
            if summary.ended.as_deref() != expected {
                return Err(format!("{} has ended as {expected:?}, and is listed as {:?}", summary.run, summary.ended));
            }
        }
        Ok(())
    }
}
