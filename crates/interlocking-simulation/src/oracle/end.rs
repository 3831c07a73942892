//! How a run may end.

use super::loops;
use super::step::past;
use super::{Facts, Oracle, same};
use crate::choice::{Choice, Fate};
use interlocking_core::failure::{ChildFailure, Failure, FailureKind};
use interlocking_core::frontier::{Execution, Limit};
use interlocking_core::table::{NodeKind, Visits};
use interlocking_runtime::journal::By;

impl Oracle<'_> {
    pub(super) fn end(
        &mut self,
        sequence: u64,
        failure: Option<&Failure>,
        cancelled: bool,
        facts: &Facts<'_>,
    ) -> Result<(), String> {
        match (failure, cancelled) {
            (None, true) => self.raced = Some("it was cancelled".to_owned()),
            (None, false) if self.exit.is_some() => {}
            (None, false) => return Err("the run finishes, and nothing has come to its exit".to_owned()),
            (Some(failure), _) => self.failed(failure, facts)?,
        }
        if failure.is_some() || cancelled {
            self.stopped.insert(sequence, self.running.values().map(|(execution, _)| *execution).collect());
        }
        self.ended = Some((failure.cloned(), cancelled));
        Ok(())
    }

    /// Checks whether the run may fail with this failure.
    fn failed(&mut self, failure: &Failure, facts: &Facts<'_>) -> Result<(), String> {
        let by = By { node: failure.node.clone(), visit: failure.visit, attempt: failure.attempt };
        if let Some((execution, limit)) = self.fatal_limit {
            let found = (self.execution(&by)?, &failure.kind);
            return same("the failure", found, (execution, &FailureKind::Exhausted(limit)));
        }
        if self.exit.is_some() {
            return Err(format!("the run has come to its exit, and fails: {failure}"));
        }
        let execution = self.execution(&by)?;
        if self.net.row(execution.node).kind == NodeKind::Event {
            self.may_handle_messages()?;
            self.raced.get_or_insert_with(|| "a message was handled".to_owned());
            let visit = self.counts[usize::from(execution.node)].0 + 1;
            same("the event node's visit", execution.visit, visit)?;
            self.counts[usize::from(execution.node)] = (visit, 1);
            if let FailureKind::Exhausted(limit) = failure.kind {
                return self.overrun(execution, limit, failure);
            }
        } else {
            let running = self.running.get(&usize::from(execution.node));
            let (_, taken) = running.ok_or_else(|| format!("{by} fails, and does not run: {failure}"))?;
            let past = past(taken);
            self.runs(&by)?;
            self.races(&past, Some(execution), "a failure ended the run");
        }
        if self.route_of(execution, &failure.kind).is_some() {
            return Err(format!("{by} fails, and its table has a route for that: {failure}"));
        }
        self.may_fail(&by, execution, failure, facts)
    }

    /// Checks whether an execution may fail with this failure.
    pub(super) fn may_fail(
        &mut self,
        by: &By,
        execution: Execution,
        failure: &Failure,
        facts: &Facts<'_>,
    ) -> Result<(), String> {
        let of = (failure.node.as_str(), failure.visit, failure.attempt);
        same("who failed", of, (by.node.as_str(), by.visit, by.attempt))?;
        if self.is_held_up(by, &failure.kind, facts) {
            self.held_up = true;
            return Ok(());
        }
        let choice = self.choice(execution);
        if self.net.row(execution.node).kind == NodeKind::Graph {
            let of = (self.run.clone(), by.clone());
            match &failure.kind {
                FailureKind::Child(child) => return self.child_failed(by, child, facts),
                _ if !facts.children.0.contains_key(&of) => {
                    return Err(format!("{by} fails before its child has finished: {failure}"));
                }
                _ => {}
            }
        }
        match choice.fate {
            Fate::Well if matches!(failure.kind, FailureKind::EdgeExhausted { .. }) => {
                self.overspent(execution, &choice, failure)
            }
            Fate::Well => Err(format!("{by} was not to fail: {failure}")),
            fate => same("the failure", &failure.kind, &fate.failure()),
        }
    }

    /// Checks whether a graph node may fail because of its child's failure.
    fn child_failed(&mut self, by: &By, child: &ChildFailure, facts: &Facts<'_>) -> Result<(), String> {
        self.seen.failed_children += 1;
        let endings = facts.children.1.get(&(self.run.clone(), by.clone()));
        match child {
            // The child was never started, and has no records.
            ChildFailure::TooDeep { limit: 2 } if endings.is_none() && self.level > 0 => Ok(()),
            _ if endings.is_some_and(|endings| endings.contains(&Err(child.clone()))) => Ok(()),
            _ => Err(format!("{by} fails with {child}, and its child came to {endings:?}")),
        }
    }

    /// Checks whether the choice of an edge may end the run: the edge is spent, and has no exhausted route.
    fn overspent(&mut self, execution: Execution, choice: &Choice, failure: &Failure) -> Result<(), String> {
        let wrong = || Err(format!("no edge is spent, and it fails: {failure}"));
        let Some((edge, way)) = self.spent_edge(execution, choice) else { return wrong() };
        if way.instead.is_some() {
            return wrong();
        }
        let to = self.rules.place_name(way.tokens[0]).to_owned();
        let times = self.net.alternative(edge).and_then(|edge| edge.times).map_or(0, |times| times.limit);
        self.seen.spent_edges += 1;
        let FailureKind::EdgeExhausted { to: target, times: limit, cycle } = &failure.kind else { return wrong() };
        same("the spent edge", (target, *limit), (&to, times))?;
        let nth = usize::from(edge - self.net.node(execution.node).alternatives.start);
        let row = self.net.row(execution.node);
        loops::check(self.net.table(), row, &row.goto[nth], cycle)
    }

    /// Checks whether a message may end the run because its event node exceeds its bound.
    fn overrun(&self, execution: Execution, limit: Limit, failure: &Failure) -> Result<(), String> {
        let row = self.net.row(execution.node);
        let beyond =
            matches!(row.visits, Some(Visits::AtMost(most)) if Limit::Visits(most) == limit && execution.visit > most);
        if beyond && row.exhausted.is_none() { Ok(()) } else { Err(format!("it fails: {failure}")) }
    }
}
