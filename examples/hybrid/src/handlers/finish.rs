//! The end of a run: reports from beside the run are added, the result is made, and the branch is advanced if everything holds.

use super::ending::result_of;
use super::{Completion, Witness};
use crate::graph::{Hybrid, hybrid};
use crate::types::{
    Check, CheckOutcome, HybridFailure, HybridResult, MutationAdversary, MutationAdversaryResult, TestSuiteVerdict,
    ValidatedState, WitnessReport,
};
use crate::verdicts::{critical_survivors, mutation_detail};
use crate::witness;
use interlocking::graph::{Reported, ReportsOf};
use interlocking::prelude::*;
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::FastForwardError;

impl LogicHandler<hybrid::finish> for Completion {
    async fn run(&self, _: ValidatedState, cx: &mut Cx<'_, hybrid::finish>) -> Route<hybrid::finish> {
        // A success only if every blocking check holds; a check that was not reached does not hold.
        let mut result = result_of(cx.entry()?, cx.memory(), None);
        fail_for_critical_survivors(&mut result);
        goto!(cx, hybrid::exit, result)
    }
}

impl ObserverHandler<hybrid::witness> for Witness {
    async fn observe(&self, seen: &Observation, report: &mut WitnessReport) -> Result<(), NodeError> {
        report.observations.push(witness::observed(seen));
        Ok(())
    }
}

impl Finish for Hybrid {
    async fn finish(&self, mut result: HybridResult, reports: ReportsOf<Self>) -> Result<HybridResult, NodeError> {
        if let Some(Reported { result: report, .. }) = reports.mutation_advisory.into_iter().next_back() {
            add_report(&mut result, report);
        }
        self.finish.0.land(&mut result).await?;
        let observed = reports.witness.into_iter().next_back().and_then(|reported| reported.result.ok());
        witness::add_account(&mut result, observed.map(|report| report.observations).unwrap_or_default());
        Ok(result)
    }
}

/// Adds the findings of the adversary beside the run.
pub(crate) fn add_report(result: &mut HybridResult, report: Result<MutationAdversaryResult, Box<Failure>>) {
    match report {
        Ok(found) => {
            let robust = found.verdict == TestSuiteVerdict::TestSuiteRobust;
            result.note(Check::MutantsCaught, CheckOutcome::new(robust, mutation_detail(&found)));
            result.mutation_adversary = MutationAdversary::Ran(found);
            fail_for_critical_survivors(result);
        }
        Err(failure) => {
            let reason = failure.message.clone();
            result.note(Check::MutantsCaught, CheckOutcome::new(false, format!("nothing was reported: {reason}")));
            result.mutation_adversary = MutationAdversary::NoReport { reason };
        }
    }
}

/// With critical survivors a run does not succeed, whether survivors block or not (HY-187, CON-68). All findings stay in the
/// result.
fn fail_for_critical_survivors(result: &mut HybridResult) {
    let MutationAdversary::Ran(found) = &result.mutation_adversary else { return };
    let survivors = critical_survivors(&found.survivors);
    let is_for_the_mutants = match result.failure() {
        None => true,
        Some(HybridFailure::ChecksUnmet { unmet }) => unmet.iter().all(|report| report.check == Check::MutantsCaught),
        Some(_) => false,
    };
    if !survivors.is_empty() && is_for_the_mutants {
        result.fail(HybridFailure::CriticalMutantSurvived { survivors });
    }
}

impl Completion {
    /// Advances the branch if the run succeeded: only here, and only from where the run began, because the verified commits are
    /// based on that (HY-25, HY-261, CON-70, CON-71).
    async fn land(&self, result: &mut HybridResult) -> Result<(), NodeError> {
        if !result.succeeded() {
            return Ok(());
        }
        let commit = result.merge_commit.ok_or("the run's memory lacks the merge commit")?;
        match self.0.land(commit).await {
            Err(GitWorkspacesError::FastForward(FastForwardError::Moved { branch, expected, found })) => {
                result.fail(HybridFailure::MainMoved {
                    branch: branch.to_string(),
                    expected: expected.to_string(),
                    found: found.map_or_else(|| "nothing".to_owned(), |found| found.to_string()),
                });
                Ok(())
            }
            // Uncommitted changes may be in the way, for example: landing is tried again when the run is retried.
            landed => Ok(landed?),
        }
    }
}
