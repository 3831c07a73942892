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
    for run in fair.outcomes.keys().chain(foul.outcomes.keys()) {
        let [undisturbed, interrupted] = [fair, foul].map(|it| it.outcomes.get(run));
        if undisturbed != interrupted {
            return Err(format!("undisturbed {run} did {undisturbed:?}, and interrupted {interrupted:?}"));
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that nothing raced in, with children of these names.
    fn compared(children: &[&str]) -> Compared {
        let outcomes = children.iter().map(|run| (run.parse().unwrap(), BTreeMap::new())).collect();
        let outcome = Outcome::Finished(Output { number: 1, reports: Vec::new() });
        Compared { outcome, outcomes, raced: false, received: false, held_up: false }
    }

    #[test]
    fn a_run_that_exists_in_one_weather_only_is_refused() {
        assert_eq!(compare(&compared(&["r", "c"]), &compared(&["r", "c"])), Ok(true));
        assert!(compare(&compared(&["r", "c"]), &compared(&["r"])).is_err());
        assert!(compare(&compared(&["r"]), &compared(&["r", "c"])).is_err());
    }
}
