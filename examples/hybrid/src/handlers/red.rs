//! The red check: tests that do not fail on the stubs are sent back, while the budget lasts.

use super::ending::{end, note_check};
use super::{TestsReject, Verify};
use crate::graph::{Hybrid, hybrid};
use crate::places::TESTS;
use crate::types::{
    BlindResults, Check, CheckOutcome, HardeningHint, HybridFailure, HybridMemory, PropertyWritten, StackSpec,
    TrivialTestsError, TrivialTestsFeedback, VerificationStatus, VerifiedResults,
};
use crate::verdicts::{
    ClaimMismatch, VerifiedClaims, echoes, hardening_hints, missing_sketches, rejection_feedback, tests_context,
    verify_claims,
};
use crate::workbench::Workbench;
use interlocking::graph::{Node, Remembers};
use interlocking::prelude::*;
use interlocking::rust_source::{Side, TestFile};
use interlocking::toolchain::TestRun;
use interlocking::toolchain::red_check;
use interlocking::workspaces::FreshCheckout;
use interlocking::worktree::CommitId;

const ONLY_WHAT_IS_SO: &str = "Claim for each property only what it really calls and covers.";

const AS_VERIFIED: &str = "What was verified of a property must go on to hold: let it check that as before.";

const ONLY_WHAT_CAN_BE_SEEN: &str = "Claim only what can be read in the file, or write it so that it can be: call each function by its \
    path or on a variable whose type is written (`let stack: Stack = …`), outside of macros of your own; compare what it returns with \
    an example's outcome as the contract has it.";

/// Why tests are refused.
enum Refusal {
    /// They are not red, or their agent never ran them.
    Trivial(TrivialTestsFeedback),
    /// Their agent's claims are not true.
    Claims(TrivialTestsFeedback, ClaimMismatch),
    /// Required properties are missing.
    Coverage(TrivialTestsFeedback, Vec<String>),
}

impl LogicHandler<hybrid::verify> for Verify {
    async fn run(&self, blind: BlindResults, cx: &mut Cx<'_, hybrid::verify>) -> Route<hybrid::verify> {
        let spec = cx.entry()?.clone();
        let Some(refusal) = self.refusal(&spec, &blind, cx).await? else {
            let (verified, properties) = (blind.tests.commit_hash, blind.tests.output.properties.clone());
            cx.update_memory(move |memory| {
                memory.verified_tests = Some(verified);
                memory.verified_properties.clone_from(&properties);
            });
            return goto!(cx, hybrid::merge, VerifiedResults { blind_results: blind, external_verified: true });
        };
        let rejections = cx.memory().trivial_tests_attempt;
        if rejections >= spec.strictness.max_fix_attempts {
            return end(cx, refusal.into_failure(rejections + 1, blind));
        }
        let feedback = refusal.into_feedback();
        let message = feedback.why_rejected.clone();
        let attempt = rejections + 1;
        goto!(cx, hybrid::tests_reject, TrivialTestsError { blind_results: blind, message, attempt, feedback })
    }
}

impl Verify {
    async fn refusal(
        &self,
        spec: &StackSpec,
        blind: &BlindResults,
        cx: &mut Cx<'_, hybrid::verify>,
    ) -> Result<Option<Refusal>, NodeError> {
        let output = &blind.tests.output;
        let names: Vec<String> = output.properties.iter().map(|property| property.name.clone()).collect();
        let refuse = |why_rejected: String, suggestion: &str| TrivialTestsFeedback {
            why_rejected,
            properties_wrote: names.clone(),
            suggestion: suggestion.to_owned(),
        };
        // The tests commit contains the skeleton and the tests, and nothing else: there has never been an implementation in it.
        let checked_out = cx.fresh_checkout(blind.tests.commit_hash).await?;
        let (refused, how) = match self.0.refused(&checked_out, Side::Tests, spec).await? {
            Ok(refused) => {
                let all: Vec<_> = refused.iter().map(ToString::to_string).collect();
                (all.join("; "), "Write the properties without that; only a person can allow it.")
            }
            Err(not_rust) => (not_rust.to_string(), "Write a file that parses."),
        };
        if !refused.is_empty() {
            note_check(cx, Check::TestsFailOnSkeleton, false, refused.clone());
            return Ok(Some(Refusal::Trivial(refuse(refused, how))));
        }
        let removed = self.removed_tests(blind.tests.commit_hash, spec, cx).await?;
        if !removed.is_empty() {
            let why = format!("these tests were verified before, and are not run any more: {}", removed.join(", "));
            note_check(cx, Check::TestsFailOnSkeleton, false, why.clone());
            return Ok(Some(Refusal::Trivial(refuse(why, "Put them back as they were, and add to them only."))));
        }
        let known = spec.known_tests(&names);
        let feedback = match self.0.test(&checked_out, known).await? {
            TestRun::Forged { tests } => Some(refuse(
                tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
                "Let every property run to its end, and return from it.",
            )),
            // Tests that cannot be built have shown nothing (CON-53).
            TestRun::DidNotBuild { diagnostics } => Some(refuse(
                format!("the tests do not compile:\n{diagnostics}"),
                "Build the tests against the stubs before you hand them in.",
            )),
            TestRun::Ran(outcome) => {
                let check = red_check(&outcome, names.iter().map(String::as_str));
                rejection_feedback(&check, &names)
            }
        };
        let detail = feedback.as_ref().map_or("every property fails", |feedback| feedback.why_rejected.as_str());
        note_check(cx, Check::TestsFailOnSkeleton, feedback.is_none(), detail);
        if let Some(feedback) = feedback {
            return Ok(Some(Refusal::Trivial(feedback)));
        }
        if let Some(report) = unmet(cx, Check::TestsFailForTheirAgent) {
            return Ok(Some(Refusal::Trivial(refuse(
                format!("they were not seen to fail before they were handed in: {report}"),
                "Run the tests on the stubs, and hand them in once every one of them has failed.",
            ))));
        }
        let on_disk = match self.0.test_file(&checked_out, spec).await? {
            Ok(on_disk) => on_disk,
            Err(error) => return Ok(Some(Refusal::Trivial(refuse(error.to_string(), "Write a file that parses.")))),
        };
        let verified = verified_claims(&self.0, cx, &checked_out, &output.properties, &on_disk).await?;
        let coverage = verified.coverage.clone();
        cx.update_memory(move |memory| memory.coverage = Some(coverage.clone()));
        // A false claim is the better reason; a claim that cannot be decided is a reason, too.
        let is_wrong = |mismatch: &&ClaimMismatch| !matches!(mismatch, ClaimMismatch::NotVerified { .. });
        let wrong = verified.mismatches.iter().find(is_wrong);
        if let Some(mismatch) = wrong.or(verified.mismatches.first()) {
            let all: Vec<_> = verified.mismatches.iter().map(ToString::to_string).collect();
            note_check(cx, Check::CoverageConfirmed, false, all.join("; "));
            let how = match (wrong.is_some(), cx.memory().verified_properties.is_empty()) {
                (true, true) => ONLY_WHAT_IS_SO.to_owned(),
                (true, false) => format!("{ONLY_WHAT_IS_SO} {AS_VERIFIED}"),
                (false, _) => ONLY_WHAT_CAN_BE_SEEN.to_owned(),
            };
            return Ok(Some(Refusal::Claims(refuse(all.join("; "), &how), mismatch.clone())));
        }
        let missing = missing_sketches(&verified.coverage, spec.strictness.require_coverage).to_vec();
        if !missing.is_empty() {
            let why = format!("these sketched properties are not covered: {}", missing.join(", "));
            note_check(cx, Check::CoverageConfirmed, false, why.clone());
            let feedback = refuse(why, "Write a property for each of them, and say which sketch it covers.");
            return Ok(Some(Refusal::Coverage(feedback, missing)));
        }
        note_check(cx, Check::CoverageConfirmed, true, "every claim holds");
        Ok(None)
    }

    /// The tests that were verified before these, and that are missing from these: strengthening tests must not remove any
    /// (HY-250).
    async fn removed_tests(
        &self,
        commit: CommitId,
        spec: &StackSpec,
        cx: &Cx<'_, hybrid::verify>,
    ) -> Result<Vec<String>, NodeError> {
        let Some(verified) = cx.memory().verified_tests else { return Ok(Vec::new()) };
        let (before, now) = (self.0.tests_at(verified, spec).await?, self.0.tests_at(commit, spec).await?);
        Ok(before.difference(&now).cloned().collect())
    }
}

/// Checks a tests agent's claims against a checkout. The source of the answers is stored.
pub(super) async fn verified_claims<N>(
    bench: &Workbench,
    cx: &mut Cx<'_, N>,
    checked_out: &FreshCheckout,
    claimed: &[PropertyWritten],
    on_disk: &TestFile,
) -> Result<VerifiedClaims, NodeError>
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory>,
{
    let (functions, spec) = (cx.memory().functions, cx.entry()?.clone());
    if let Some(verified) = bench.claims_by_server(checked_out, &spec, &functions, claimed).await? {
        let provider = verified.coverage.told_by.clone();
        cx.update_memory(move |memory| memory.ground_truth.calls.clone_from(&provider));
        return Ok(verified);
    }
    let verified = verify_claims(&functions, claimed, on_disk, None);
    // The text may not show the types of values; no claim is called false before the types are known.
    if verified.mismatches.is_empty() {
        return Ok(verified);
    }
    let properties = claimed.iter().filter_map(|property| on_disk.named(&property.name));
    let resolved = bench.resolve(checked_out, &spec, properties).await?;
    let provider = resolved.provider.clone();
    cx.update_memory(move |memory| memory.ground_truth.calls = Some(provider.clone()));
    Ok(verify_claims(&functions, claimed, on_disk, Some(&resolved)))
}

/// The failure of a run that ends because of a false claim, if that kind of claim has one.
pub(super) fn failed_claim(mismatch: ClaimMismatch) -> Option<HybridFailure> {
    match mismatch {
        ClaimMismatch::TargetsNotCalled { property, actual_targets, .. } => {
            Some(HybridFailure::CoverageClaimMismatch { property, actual_targets })
        }
        ClaimMismatch::PropertyNotOnDisk { property } => {
            Some(HybridFailure::CoverageClaimMismatch { property, actual_targets: Vec::new() })
        }
        ClaimMismatch::NotVerified { property, claims } => {
            Some(HybridFailure::CoverageNotVerified { property, claims })
        }
        ClaimMismatch::NoSuchExample { .. } | ClaimMismatch::NoSuchSketch { .. } => None,
    }
}

/// The detail of a check, if it does not hold.
fn unmet(cx: &Cx<'_, hybrid::verify>, check: Check) -> Option<String> {
    match cx.memory().checks.remove(&check) {
        Some(CheckOutcome { status: VerificationStatus::Verified, .. }) => None,
        Some(outcome) => Some(outcome.detail),
        None => Some("nobody has looked".to_owned()),
    }
}

impl Refusal {
    fn into_feedback(self) -> TrivialTestsFeedback {
        match self {
            Self::Trivial(feedback) | Self::Claims(feedback, _) | Self::Coverage(feedback, _) => feedback,
        }
    }

    fn into_failure(self, attempts: u8, blind: BlindResults) -> HybridFailure {
        match self {
            Self::Claims(last_feedback, mismatch) => {
                failed_claim(mismatch).unwrap_or(HybridFailure::TestsRejected { attempts, last_feedback })
            }
            Self::Coverage(_, uncovered_sketches) => {
                HybridFailure::CoverageEnforcementFailed { uncovered_sketches, blind_results: Box::new(blind) }
            }
            Self::Trivial(last_feedback) => HybridFailure::TestsRejected { attempts, last_feedback },
        }
    }
}

impl LogicHandler<hybrid::tests_reject> for TestsReject {
    async fn run(
        &self,
        refused: TrivialTestsError,
        cx: &mut Cx<'_, hybrid::tests_reject>,
    ) -> Route<hybrid::tests_reject> {
        let memory = cx.memory();
        let skeleton = memory.skeleton_commit.ok_or("the run's memory lacks the skeleton commit")?;
        let gated = memory.gated.ok_or("the run's memory lacks the state that passed the gate")?;
        // Reset to the stubs, or to the tests that were to be strengthened; the refused commit is kept in the archive (CON-74).
        // The implementation stays as it is.
        cx.worktree_of(TESTS).await?.reset(memory.verified_tests.unwrap_or(skeleton)).await?;
        let (attempt, feedback) = (refused.attempt, refused.feedback.clone());
        cx.update_memory(move |memory| {
            memory.trivial_tests_attempt = attempt;
            memory.trivial_feedback = Some(feedback.clone());
        });
        let mut hints = hardening_hints(&gated.type_adversary, &memory.prior_type_fixes);
        hints.extend(memory.mutation_adversary.iter().flat_map(|found| &found.survivors).map(HardeningHint::from));
        let names = echoes(None, Some(&refused.blind_results.implementation.output));
        goto!(cx, hybrid::tests, tests_context(&gated, Some(refused.feedback), names, hints))
    }
}
