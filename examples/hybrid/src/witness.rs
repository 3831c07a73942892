//! The account of a run: what each node did, in order (HY-14, CON-93). An observer makes it; for a run that has failed at a node
//! it is read from the journal.

use crate::types::{HybridResult, MutationAdversary, NodeObservation, WitnessReport};
use crate::verdicts::{code_among_words, work_items};
use interlocking::prelude::Observation;
use interlocking::runtime::journal::account::{ExecutionState, RunAccount};

/// The observation of an outcome.
pub fn observed(seen: &Observation) -> NodeObservation {
    let Observation(outcome) = seen;
    let to: Vec<&str> = outcome.tokens.iter().map(|token| token.place.as_str()).collect();
    done(&outcome.node, outcome.visit, &to.join(" and "))
}

/// Puts the account of a run, and what is left to do, into its result, once everything else is known.
pub fn add_account(result: &mut HybridResult, observations: Vec<NodeObservation>) {
    result.work_items = work_items(result);
    let steps: Vec<String> = observations.iter().map(|seen| format!("{} {}", seen.node, seen.progress)).collect();
    let ending = match result.failure() {
        None => "The run succeeded.".to_owned(),
        Some(failure) => format!("The run did not succeed: {failure}."),
    };
    let mut concerns: Vec<String> = observations.iter().flat_map(|seen| seen.concerns.clone()).collect();
    concerns.extend(code_in(result).map(|place| format!("`{place}` has lines of code, where words are to describe")));
    let mut suggestions = Vec::new();
    if result.attempts > 0 {
        concerns.push(format!("rounds of fixing that the implementation needed: {}", result.attempts));
        suggestions.push("Add the examples that the fixes were about to the contract.".to_owned());
    }
    let open = result.tests_coverage.iter().flat_map(|coverage| &coverage.sketches_uncovered);
    suggestions.extend(open.map(|sketch| format!("Write the sketched property `{sketch}`.")));
    let properties =
        result.work_items.iter().filter_map(|item| item.suggested_property.as_ref().zip(Some(&item.about)));
    suggestions.extend(properties.map(|(property, function)| {
        format!("Add the property `{}` for `{function}`: {}", property.name, property.invariant)
    }));
    let narrative = format!("{}. {ending}", steps.join("; "));
    result.witness = WitnessReport { narrative, observations, concerns, suggestions };
}

/// The fields of the result in which agents have put code into prose (HY-08).
fn code_in(result: &HybridResult) -> impl Iterator<Item = String> {
    let type_adversary = result.type_adversary.as_ref().map(|found| code_among_words(&found.output));
    let mutation_adversary = match &result.mutation_adversary {
        MutationAdversary::Ran(found) => Some(code_among_words(&found.output)),
        _ => None,
    };
    let places = |whose: &'static str, places: Vec<String>| places.into_iter().map(move |at| format!("{whose}{at}"));
    places("spec", code_among_words(&result.spec))
        .chain(places("typeAdversary.", type_adversary.unwrap_or_default()))
        .chain(places("mutationAdversary.", mutation_adversary.unwrap_or_default()))
        .chain(places("understanding.", code_among_words(&result.understanding)))
}

/// The account of a run from its journal, in the order of the records. An interrupted execution begins again, and is listed when
/// it ends.
pub fn from_journal(account: &RunAccount) -> Vec<NodeObservation> {
    let mut executions: Vec<_> = account.executions.iter().collect();
    executions.sort_by_key(|execution| execution.record.unwrap_or(u64::MAX));
    let observations = executions.into_iter().filter_map(|execution| {
        let (node, visit) = (execution.by.node.as_str(), execution.by.visit);
        match execution.state {
            ExecutionState::Done => Some(done(node, visit, &execution.to.join(" and "))),
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

fn done(node: &str, visit: u32, to: &str) -> NodeObservation {
    let progress = match node {
        // It reports to the exit, and nothing follows it.
        "mutation_advisory" => "reported".to_owned(),
        _ => format!("went on to {to}"),
    };
    observation(node, visit, progress, Vec::new())
}

fn failed(node: &str, visit: u32, message: String) -> NodeObservation {
    observation(node, visit, "failed".to_owned(), vec![message])
}

fn stopped(node: &str, visit: u32) -> NodeObservation {
    observation(node, visit, "was stopped".to_owned(), Vec::new())
}

fn observation(node: &str, visit: u32, progress: String, concerns: Vec<String>) -> NodeObservation {
    NodeObservation { node: node.to_owned(), phase: format!("visit {visit}"), progress, concerns }
}
