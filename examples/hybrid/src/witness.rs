//! The account of a run: what each node did, in order, told from the events and from nothing else (HY-14, CON-93). Of a run
//! that is resumed, what was before is told from the outcomes in its journal.

use crate::types::{HybridResult, NodeObservation, WitnessReport};
use interlocking::runtime::event::Targets;
use interlocking::runtime::journal::account::{ExecutionState, RunAccount};
use interlocking::runtime::{Event, EventKind};
use std::sync::{Mutex, PoisonError};

/// Sees the events of a run.
#[derive(Debug, Default)]
pub struct Witness(Mutex<Vec<NodeObservation>>);

impl Witness {
    /// One that goes on with these observations.
    pub fn recalling(observations: Vec<NodeObservation>) -> Self {
        Self(Mutex::new(observations))
    }

    /// Takes in one event.
    pub fn see(&self, event: &Event) {
        let observation = match &event.kind {
            EventKind::NodeFinished { node, to, .. } => {
                let to = match to {
                    Targets::One(place) => place.to_string(),
                    Targets::All(places) => places.join(" and "),
                };
                went_on(&node.node, node.visit, &to)
            }
            EventKind::NodeFailed { node, message, .. } => failed(&node.node, node.visit, message.clone()),
            EventKind::NodeCancelled(node) => stopped(&node.node, node.visit),
            _ => return,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(observation);
    }

    /// The account, once the result is known.
    pub fn account(&self, result: &HybridResult) -> WitnessReport {
        let observations = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let steps: Vec<String> = observations.iter().map(|seen| format!("{} {}", seen.node, seen.progress)).collect();
        let ending = match result.failure() {
            None => "The run succeeded.".to_owned(),
            Some(failure) => format!("The run did not succeed: {failure}."),
        };
        let mut concerns: Vec<String> = observations.iter().flat_map(|seen| seen.concerns.clone()).collect();
        let mut suggestions = Vec::new();
        if result.attempts > 0 {
            concerns.push(format!("rounds of fixing that the implementation needed: {}", result.attempts));
            suggestions.push("Add the examples that the fixes were about to the contract.".to_owned());
        }
        let open = result.tests_coverage.iter().flat_map(|coverage| &coverage.sketches_uncovered);
        suggestions.extend(open.map(|sketch| format!("Write the sketched property `{sketch}`.")));
        WitnessReport { narrative: format!("{}. {ending}", steps.join("; ")), observations, concerns, suggestions }
    }
}

/// What a journal tells of a run, in the order in which it was recorded. What was interrupted begins again, and is told then.
pub fn recalled(account: &RunAccount) -> Vec<NodeObservation> {
    let mut executions: Vec<_> = account.executions.iter().collect();
    executions.sort_by_key(|execution| execution.record.unwrap_or(u64::MAX));
    let observations = executions.into_iter().filter_map(|execution| {
        let (node, visit) = (execution.by.node.as_str(), execution.by.visit);
        match execution.state {
            ExecutionState::Done => Some(went_on(node, visit, &execution.to.join(" and "))),
            ExecutionState::Failed => {
                let message = execution.failure.as_ref().map(|failure| failure.message.clone());
                Some(failed(node, visit, message.unwrap_or_default()))
            }
            ExecutionState::Discarded => Some(stopped(node, visit)),
            _ => None,
        }
    });
    observations.collect()
}

fn went_on(node: &str, visit: u32, to: &str) -> NodeObservation {
    observed(node, visit, format!("went on to {to}"), Vec::new())
}

fn failed(node: &str, visit: u32, message: String) -> NodeObservation {
    observed(node, visit, "failed".to_owned(), vec![message])
}

fn stopped(node: &str, visit: u32) -> NodeObservation {
    observed(node, visit, "was stopped".to_owned(), Vec::new())
}

fn observed(node: &str, visit: u32, progress: String, concerns: Vec<String>) -> NodeObservation {
    NodeObservation { node: node.to_owned(), phase: format!("visit {visit}"), progress, concerns }
}
