//! Compares the run in one weather with the run in the other.

use super::Followed;
use crate::graph::Output;
use crate::oracle::ExecutionKey;
use crate::plan;
use interlocking_core::run_id::RunId;
use interlocking_runtime::Outcome;
use std::collections::BTreeMap;

/// The data of a run that is compared.
pub(crate) struct Compared {
    outcome: Outcome<Output>,
    /// By run and execution: the tokens that it sent.
    outcomes: BTreeMap<RunId, BTreeMap<ExecutionKey, String>>,
    /// Whether anything depended, or may depend in the other weather, on the order of concurrent steps.
    raced: bool,
    /// Whether any run has received a message.
    received: bool,
    /// Whether any execution timed out because it had to wait for others.
    held_up: bool,
}

impl Compared {
    pub(crate) fn of(followed: &Followed<'_>) -> Self {
        let outcomes = followed.runs.iter().map(|(run, oracle)| {
            let outcomes = oracle.outcomes.iter();
            (run.clone(), outcomes.map(|(execution, tokens)| (*execution, format!("{tokens:?}"))).collect())
        });
        let ended = followed.account.ended;
        let runs = || followed.runs.values();
        let received = runs().any(|oracle| oracle.seen.received > 0);
        // A message that arrived after the end in this weather may arrive before it in the other.
        let sent = !plan::messages(&ended.history.world).is_empty() || runs().any(|oracle| oracle.seen.sent > 0);
        Self {
            outcome: ended.report.outcome.clone(),
            outcomes: outcomes.collect(),
            raced: received || sent || runs().any(|oracle| oracle.raced.is_some()),
            received,
            held_up: runs().any(|oracle| oracle.held_up),
        }
    }
}

/// Checks that an undisturbed and an interrupted run have the same result, where nothing depended on the order of
/// concurrent steps. Returns `false` if the results may differ.
pub(crate) fn compare(fair: &Compared, foul: &Compared) -> Result<bool, String> {
    if fair.raced || foul.received || fair.held_up || foul.held_up || matches!(foul.outcome, Outcome::Cancelled) {
        return Ok(false);
    }
    let number = |outcome: &Outcome<Output>| match outcome {
        Outcome::Finished(output) => Ok(output.number),
        other => Err(format!("{other:?}")),
    };
    if number(&fair.outcome) != number(&foul.outcome) {
        return Err(format!("undisturbed it ends as {:?}, and interrupted as {:?}", fair.outcome, foul.outcome));
    }
    for (run, outcomes) in &fair.outcomes {
        if foul.outcomes.get(run) != Some(outcomes) {
            return Err(format!("undisturbed {run} did {outcomes:?}, and interrupted {:?}", foul.outcomes.get(run)));
        }
    }
    Ok(true)
}
