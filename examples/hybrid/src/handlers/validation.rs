//! The fix loop: merged tests pass, or the implementation is repaired while that makes progress.

use super::ending::{end, node_name, note_check};
use super::red::{failed_claim, verified_claims};
use super::{Fix, Validate};
use crate::commit_message::{CommitMessage, Phase, fix_summary};
use crate::graph::hybrid;
use crate::paths::Role;
use crate::prompts::FixTpl;
use crate::types::{
    Check, Conversation, FailurePattern, FailureType, FixAgentOutput, FixTemplateCtx, HybridFailure, MergedState,
    StructuredFailure, TestsAgentOutput, ValidatedState, ValidationFailure,
};
use crate::verdicts::{FixStop, affected_functions, after_fix, after_pass, before_fix};
use crate::workbench::Defined;
use interlocking::prelude::*;
use interlocking::rust_source::{Side, TestFile, resolve_name};
use interlocking::toolchain::{FailedRound, TestRun, build_failure, green_check, patterns_of};
use interlocking::workspaces::FreshCheckout;

/// What running the merged tests showed.
enum Validation {
    /// How many tests passed: all there are.
    Passed(u32),
    /// What failed, and in which patterns.
    Failed(Vec<StructuredFailure>, Vec<FailurePattern>),
    /// It did not build.
    Broken(String),
    /// It cannot be verified, whatever its tests report.
    Unverifiable(HybridFailure),
    /// All tests passed, but a function is still a stub, or a claim does not hold.
    Unfulfilled(HybridFailure),
}

impl LogicHandler<hybrid::validate> for Validate {
    async fn run(&self, mut merged: MergedState, cx: &mut Cx<'_, hybrid::validate>) -> Route<hybrid::validate> {
        let most = cx.entry()?.strictness.max_fix_attempts;
        let mut memory = cx.memory();
        let (failures, new_patterns, broken) = match self.validate(&merged, cx).await? {
            Validation::Passed(tests_passed) => {
                note_check(cx, Check::CoverageConfirmed, true, "every claim holds of the merged code");
                merged.understanding = after_pass(&merged.understanding);
                let understanding = merged.understanding.clone();
                cx.update_memory(move |memory| {
                    memory.understanding = understanding.clone();
                    memory.last_round = None;
                });
                return goto!(cx, hybrid::post_validate, ValidatedState { merged_state: merged, tests_passed });
            }
            Validation::Failed(failures, patterns) => (failures, patterns, None),
            Validation::Unverifiable(failure) => {
                note_check(cx, Check::MergedTestsPass, false, failure.to_string());
                return end(cx, failure);
            }
            Validation::Unfulfilled(failure) => return end(cx, failure),
            Validation::Broken(diagnostics) => {
                let (failure, pattern) = build_failure(&diagnostics);
                (vec![failure], vec![pattern], Some(diagnostics))
            }
        };
        let detail = match broken {
            Some(_) => "it does not build".to_owned(),
            None => format!("{} tests fail", failures.len()),
        };
        note_check(cx, Check::MergedTestsPass, false, detail);
        let current = FailedRound::of(&failures);
        let rounds = memory.fix_attempt;
        let (understanding, stop) =
            before_fix(&merged.understanding, &new_patterns, memory.last_round.as_ref(), &current, rounds, most);
        let kept = understanding.clone();
        cx.update_memory(move |memory| {
            memory.understanding = kept.clone();
            memory.last_round = Some(current.clone());
        });
        match stop {
            None => {
                merged.understanding = understanding;
                goto!(cx, hybrid::fix, ValidationFailure { merged_state: merged, failures, new_patterns })
            }
            Some(FixStop::StuckOnPattern(patterns)) => {
                end(cx, HybridFailure::StuckOnPattern { patterns, understanding })
            }
            Some(FixStop::NotConverging) => end(cx, HybridFailure::NotConverging { understanding }),
            Some(FixStop::BudgetExhausted) => match (broken, memory.last_fix.take()) {
                (Some(diagnostics), Some(output)) => {
                    end(cx, HybridFailure::BuildFailedAfterFix { output, diagnostics })
                }
                _ => end(cx, HybridFailure::FixBudgetExhausted { attempts: rounds, understanding }),
            },
        }
    }
}

impl Validate {
    async fn validate(&self, merged: &MergedState, cx: &mut Cx<'_, hybrid::validate>) -> Result<Validation, NodeError> {
        let spec = &cx.entry()?.clone();
        // The commit that will be landed, without any other files.
        let commit = cx.memory().merge_commit.ok_or("the run's memory lacks the merge commit")?;
        let files = self.0.marked_files(commit).await?;
        if !files.is_empty() {
            return Ok(Validation::Unverifiable(HybridFailure::ConflictMarkers { files }));
        }
        let checked_out = cx.fresh_checkout(commit).await?;
        match self.0.refused(&checked_out, Side::Implementation, spec).await? {
            Ok(refused) if !refused.is_empty() => {
                return Ok(Validation::Unverifiable(HybridFailure::NotVerifiable { refused }));
            }
            Ok(_) => {}
            Err(not_rust) => return Ok(Validation::Broken(not_rust.to_string())),
        }
        let output = &merged.verified_results.blind_results.tests.output;
        let names: Vec<String> = output.properties.iter().map(|property| property.name.clone()).collect();
        let known = spec.known_tests(&names);
        let outcome = match self.0.test(&checked_out, known).await? {
            TestRun::Forged { tests } => {
                return Ok(Validation::Unverifiable(HybridFailure::VerdictForged { tests }));
            }
            TestRun::DidNotBuild { diagnostics } => return Ok(Validation::Broken(diagnostics)),
            TestRun::Ran(outcome) => outcome,
        };
        let not_run = green_check(&outcome, names.iter().map(String::as_str)).absent;
        let on_disk = self.0.test_file(&checked_out, spec).await?.unwrap_or_default();
        if outcome.all_passed() && not_run.is_empty() {
            let passed = u32::try_from(outcome.passed.len()).unwrap_or(u32::MAX);
            note_check(cx, Check::MergedTestsPass, true, format!("{passed} tests pass"));
            let unfulfilled = self.claims(&checked_out, output, &on_disk, cx).await?;
            return Ok(unfulfilled.map_or(Validation::Passed(passed), Validation::Unfulfilled));
        }
        let functions = cx.memory().functions;
        let failures: Vec<_> = outcome.failed.into_iter().chain(not_run.into_iter().map(was_not_run)).collect();
        let patterns = patterns_of(&failures, |failure| affected_functions(failure, &on_disk, &functions));
        Ok(Validation::Failed(failures, patterns))
    }
}

impl Validate {
    /// Checks both sides' claims against the code with every repair: each function of the contract is there and is no longer a
    /// stub (HY-159), and the properties, all of which have run and passed, do what their agent claims (HY-160).
    async fn claims(
        &self,
        checked_out: &FreshCheckout,
        output: &TestsAgentOutput,
        on_disk: &TestFile,
        cx: &mut Cx<'_, hybrid::validate>,
    ) -> Result<Option<HybridFailure>, NodeError> {
        let (spec, contract) = (cx.entry()?.clone(), cx.memory().functions);
        let Defined { functions: defined, told_by } = self.0.defined_in(checked_out, &spec).await?;
        let is_defined = |name: &str| resolve_name(defined.iter().map(String::as_str), name).is_some();
        let lacking = contract.iter().filter(|function| !is_defined(&function.name));
        let functions: Vec<String> = lacking.map(|function| function.name.clone()).collect();
        cx.update_memory(move |memory| memory.ground_truth.implementation = Some(told_by.clone()));
        if !functions.is_empty() {
            let failure = HybridFailure::FunctionsNotImplemented { functions };
            note_check(cx, Check::CoverageConfirmed, false, failure.to_string());
            return Ok(Some(failure));
        }
        let verified = verified_claims(&self.0, cx, checked_out, &output.properties, on_disk).await?;
        let coverage = verified.coverage;
        cx.update_memory(move |memory| memory.coverage = Some(coverage.clone()));
        let Some(mismatch) = verified.mismatches.into_iter().next() else { return Ok(None) };
        note_check(cx, Check::CoverageConfirmed, false, mismatch.to_string());
        Ok(failed_claim(mismatch))
    }
}

/// The failure of a verified test that did not run on the merged code.
fn was_not_run(property_name: String) -> StructuredFailure {
    StructuredFailure {
        property_name,
        failure_type: FailureType::ParseError,
        counterexample: None,
        expected: None,
        actual: None,
        message: "it was not run: it is left out, or it skips itself".to_owned(),
    }
}

impl LLMHandler<hybrid::fix> for Fix {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(&'a self, failure: &'a ValidationFailure, cx: &mut Cx<'_, hybrid::fix>) -> Ask<FixTpl<'a>> {
        let memory = cx.memory();
        let context = FixTemplateCtx {
            failures: failure.failures.clone(),
            understanding: failure.merged_state.understanding.clone(),
            functions: memory.functions,
            impl_path: cx.entry()?.impl_path.clone(),
        };
        let session = match memory.fix_session.and_then(|had| had.of(cx.run_id())) {
            Some(session) => SessionOp::ContinueFrom(session),
            None => cx.fresh_session(),
        };
        Ok((FixTpl::new(context, self.0.toolchain()), session))
    }

    async fn after(
        &self,
        failure: ValidationFailure,
        reply: Reply<FixAgentOutput>,
        cx: &mut Cx<'_, hybrid::fix>,
    ) -> Route<hybrid::fix> {
        let (spec, node, output) = (cx.entry()?.clone(), cx.node(), reply.output);
        let message = CommitMessage::new(
            Phase::Fix,
            &output.commit_msg,
            fix_summary(&output),
            cx.run_id().clone(),
            node_name(node)?,
            reply.usage.cost,
        );
        let mut worktree = cx.worktree().await?;
        if let Some(failure) = self.0.misconduct(node, Role::Fix, &worktree, &output, &spec).await? {
            return end(cx, failure);
        }
        // A fix that broke the build is a failed round like any other, and validation reports it (CON-61).
        let since = worktree.head();
        let committed = worktree.commit(message.to_string()).await?;
        let commit = committed.unwrap_or(since);
        let mut merged = failure.merged_state;
        merged.understanding = after_fix(&merged.understanding, &output, committed.is_some());
        let had = Conversation { run: cx.run_id().clone(), session: reply.session };
        let understanding = merged.understanding.clone();
        cx.update_memory(move |memory| {
            memory.fix_attempt += 1;
            memory.understanding = understanding.clone();
            memory.last_fix = Some(output.clone());
            memory.fix_session = Some(had.clone());
            memory.merge_commit = Some(commit);
        });
        goto!(cx, hybrid::validate, merged)
    }
}
