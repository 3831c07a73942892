//! The end of a run: in its report, in its records, in the journal's list, and when it is resumed.

use super::{Followed, ready};
use crate::graph::Output;
use crate::oracle::Oracle;
use interlocking_core::failure::FailureKind;
use interlocking_core::table::NodeKind;
use interlocking_runtime::Outcome;
use interlocking_runtime::journal::Journal;
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

    /// Checks that the output has every report, or the reason why there is none.
    fn reports(&self, oracle: &Oracle<'_>, output: &Output) -> Result<(), String> {
        let history = &self.account.ended.history;
        let limit_ms = history.surroundings.deadline.as_millis() as u64;
        let late: Result<u64, FailureKind> = Err(FailureKind::Timeout { limit_ms });
        let mut expected = Vec::new();
        for (node, row) in history.world.nets[0].table().nodes.iter().enumerate() {
            if row.report.is_none() {
                continue;
            }
            if row.kind == NodeKind::Observer {
                let watched = oracle.watched.get(&node).copied().unwrap_or(Ok(0));
                expected.push((&row.name, None, watched.map_err(|()| FailureKind::Handler)));
                continue;
            }
            // An execution that was not finished at the deadline may finish and be recorded later, if its process lives
            // that long.
            let undone = oracle.beside.keys().map(|key| (*key, late.clone()));
            let told: BTreeMap<_, _> = undone.chain(oracle.reports.clone()).collect();
            let told = told.into_iter().filter(|(key, _)| usize::from(key.0) == node);
            expected.extend(told.map(|(key, told)| (&row.name, Some(key.1), told)));
        }
        let same = expected.len() == output.reports.len()
            && expected.iter().zip(&output.reports).all(|((name, visit, told), (of, at, result))| {
                *name == of && visit.is_none_or(|visit| visit == *at) && (result == told || *result == late)
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
