//! Nodes beside the graph: advisory nodes and their reports, observers and the outcomes they observe.

use super::{Facts, Oracle, key, number, same};
use crate::asking::heard;
use crate::choice::{Choice, Fate};
use crate::numbers::{observed, report, spawned};
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::{Execution, Limit};
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, NodeOutcome, RecordedPayload};
use interlocking_runtime::observer::Observation;

impl Oracle<'_> {
    /// Starts the advisory nodes that an outcome asks for.
    pub(super) fn spawn(&mut self, sequence: u64, choice: &Choice, outcome: &NodeOutcome) -> Result<(), String> {
        same("the number of advisory nodes", outcome.spawned.len(), choice.spawns.len())?;
        for (token, &place) in outcome.spawned.iter().zip(&choice.spawns) {
            same("the advisory node", &token.place, &self.net.place(place).name)?;
            let carried = spawned(choice, place);
            same("what the advisory node takes", number(&token.payload)?, carried)?;
            let node = self.net.place(place).node;
            let count = &mut self.counts[usize::from(node)];
            *count = (count.0 + 1, 1);
            let started = Execution { node, visit: count.0, attempt: 1 };
            self.seen.advisory += 1;
            let limit = self.net.node(node).visits;
            if count.0 > limit {
                self.reports.insert(key(started), Err(FailureKind::Exhausted(Limit::Visits(limit))));
            } else {
                self.beside.insert(key(started), carried);
                self.starts.push((sequence, started));
            }
        }
        Ok(())
    }

    pub(super) fn report(
        &mut self,
        by: &By,
        execution: Execution,
        told: Option<&RecordedPayload>,
        failure: Option<&Failure>,
        facts: &Facts<'_>,
    ) -> Result<(), String> {
        if self.net.row(execution.node).kind == NodeKind::Observer {
            return Ok(());
        }
        let Some(&input) = self.beside.get(&key(execution)) else {
            return Err(format!("{execution:?} reports, and was not started or has reported before"));
        };
        let told = match (told, failure) {
            (Some(told), None) => Ok(number(told)?),
            (None, Some(failure)) => Err(failure.kind.clone()),
            other => return Err(format!("a report is {other:?}")),
        };
        self.beside.remove(&key(execution));
        let choice = self.choice(execution);
        let expected = match choice.fate {
            _ if told.as_ref().is_err_and(|kind| self.is_held_up(by, kind, facts)) => told.clone(),
            // An advisory execution whose call is refused fails, which is allowed.
            _ if failure.is_some_and(|failure| self.is_refused(&failure.message, facts)) => told.clone(),
            Fate::Well => Ok(report(&choice, input, heard(self.world, &choice, &[input]))),
            fate => Err(fate.failure()),
        };
        same("the report", &told, &expected)?;
        self.reports.insert(key(execution), told);
        Ok(())
    }

    /// Shows an outcome to the observers of its node.
    pub(super) fn show(&mut self, outcome: &NodeOutcome) {
        for (at, row) in self.net.table().nodes.iter().enumerate() {
            if row.kind == NodeKind::Observer && row.observes.contains(&outcome.node) {
                let sum = self.watched.entry(at).or_insert(Ok(0));
                let failing = self.world.rates.failing;
                *sum = sum.and_then(|sum| observed(sum, failing, &Observation(outcome.clone())).map_err(drop));
            }
        }
    }
}
