//! The account of a run: what each node did, in order, told from the events and from nothing else (HY-14, CON-93).

use crate::types::{HybridResult, NodeObservation, WitnessReport};
use interlocking::runtime::event::Onward;
use interlocking::runtime::{Event, EventKind};
use std::sync::{Mutex, PoisonError};

/// Sees the events of a run.
#[derive(Debug, Default)]
pub struct Witness(Mutex<Vec<NodeObservation>>);

impl Witness {
    /// Takes in one event.
    pub fn see(&self, event: &Event) {
        let observation = match &event.kind {
            EventKind::NodeFinished { node, to, .. } => {
                let to = match to {
                    Onward::One(place) => (*place).to_owned(),
                    Onward::All(places) => places.join(" and "),
                };
                observed(node.node, node.visit, format!("went on to {to}"), Vec::new())
            }
            EventKind::NodeFailed { node, message, .. } => {
                observed(node.node, node.visit, "failed".to_owned(), vec![message.clone()])
            }
            EventKind::NodeCancelled(node) => observed(node.node, node.visit, "was stopped".to_owned(), Vec::new()),
            _ => return,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(observation);
    }

    /// The account, once the result is known.
    pub fn account(&self, result: &HybridResult) -> WitnessReport {
        let observations = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let steps: Vec<String> = observations.iter().map(|seen| format!("{} {}", seen.node, seen.progress)).collect();
        let ending = match &result.failure {
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

fn observed(node: &str, visit: u32, progress: String, concerns: Vec<String>) -> NodeObservation {
    NodeObservation { node: node.to_owned(), phase: format!("visit {visit}"), progress, concerns }
}
