//! The attack on the tests: changes of the code that an adversary says no test detects are tried, and the tests are strengthened
//! if the task says so.

use super::blind::accept_tests;
use super::ending::{end, forget_checks, note_check};
use super::{Mutation, MutationAdvisory, MutationFix, PostValidate, Settle};
use crate::graph::hybrid;
use crate::places::MUTATION_REVIEW;
use crate::prompts::{MutationAdversaryTpl, MutationFixTpl};
use crate::types::{
    BlindResults, Check, MutationAdversaryOutput, MutationAdversaryResult, MutationFixInput, MutationFixTemplateCtx,
    MutationTemplateCtx, TestSuiteVerdict, TestsAgentOutput, ValidatedState,
};
use crate::verdicts::{mutation_context, mutation_detail, mutation_fix_targets, remember_survivors, untried_mutants};
use interlocking::prelude::*;
use interlocking::workspaces::GitWorkspacesError;

impl LogicHandler<hybrid::post_validate> for PostValidate {
    async fn run(
        &self,
        validated: ValidatedState,
        cx: &mut Cx<'_, hybrid::post_validate>,
    ) -> Route<hybrid::post_validate> {
        let spec = cx.entry()?.clone();
        let memory = cx.memory();
        let merged = memory.merge_commit.ok_or("the run's memory lacks the merge commit")?;
        let (targets, told_by) = self.0.mutation_targets(merged, &spec).await?;
        let provider = told_by.clone();
        cx.update_memory(move |memory| memory.ground_truth.mutation_targets = Some(provider.clone()));
        let context = mutation_context(&spec, &memory.functions, targets, told_by);
        if spec.strictness.mutation_blocking {
            goto!(cx, hybrid::mutation, context)
        } else {
            cx.spawn::<hybrid::mutation_advisory>(context);
            goto!(cx, hybrid::finish, validated)
        }
    }
}

impl LLMHandler<hybrid::mutation> for Mutation {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(
        &'a self,
        context: &'a MutationTemplateCtx,
        cx: &mut Cx<'_, hybrid::mutation>,
    ) -> Ask<MutationAdversaryTpl<'a>> {
        // Always a fresh session (HY-07).
        Ok((MutationAdversaryTpl::new(context, self.0.toolchain()), cx.fresh_session()))
    }

    async fn after(
        &self,
        _: MutationTemplateCtx,
        reply: Reply<MutationAdversaryOutput>,
        cx: &mut Cx<'_, hybrid::mutation>,
    ) -> Route<hybrid::mutation> {
        // The commit that the adversary has read: each reported change is made in it, and the tests are run.
        let (spec, merged) = (cx.entry()?.clone(), cx.worktree_of(MUTATION_REVIEW).await?.head());
        let checked_out = cx.fresh_checkout(merged).await?;
        let found = self.0.try_mutants(&checked_out, &spec, reply.output, &cx.memory().survived).await?;
        let robust = found.verdict == TestSuiteVerdict::TestSuiteRobust;
        note_check(cx, Check::MutantsCaught, robust, mutation_detail(&found));
        let kept = found.clone();
        cx.update_memory(move |memory| {
            remember_survivors(&mut memory.survived, &kept.survivors);
            memory.mutation_adversary = Some(kept.clone());
        });
        goto!(cx, hybrid::settle, found)
    }
}

impl AdvisoryHandler<hybrid::mutation_advisory> for MutationAdvisory {
    async fn advise(
        &self,
        context: MutationTemplateCtx,
        cx: &mut Cx<'_, hybrid::mutation_advisory>,
    ) -> Result<MutationAdversaryResult, NodeError> {
        let prompt = MutationAdversaryTpl::new(&context, self.0.toolchain());
        let session = SessionOp::StartFresh(Slug::new("mutation")?);
        let (spec, merged) = (cx.entry()?.clone(), cx.worktree_of(MUTATION_REVIEW).await?.head());
        let output = cx.converse_as(self.0.ground_rules(), prompt, session).await?.output;
        match cx.fresh_checkout(merged).await {
            Ok(checked_out) => Ok(self.0.try_mutants(&checked_out, &spec, output, &[]).await?),
            // The run is over: the report is an addendum.
            Err(GitWorkspacesError::RunEnded) => Ok(untried_mutants(output, "not tried: the run is over")),
            Err(error) => Err(error.into()),
        }
    }
}

impl LogicHandler<hybrid::settle> for Settle {
    async fn run(&self, found: MutationAdversaryResult, cx: &mut Cx<'_, hybrid::settle>) -> Route<hybrid::settle> {
        let validated = cx.input_of::<hybrid::post_validate>()?;
        let (rounds, most) = (cx.memory().mutation_fix_attempt, cx.entry()?.strictness.max_fix_attempts);
        // The budget is checked before another round is paid for.
        if found.verdict == TestSuiteVerdict::TestSuiteRobust || rounds >= most {
            return goto!(cx, hybrid::finish, validated);
        }
        cx.update_memory(move |memory| memory.mutation_fix_attempt = rounds + 1);
        let fix_targets = mutation_fix_targets(&found.survivors);
        goto!(cx, hybrid::mutation_fix, MutationFixInput { validated, survivors: found.survivors, fix_targets })
    }
}

impl LLMHandler<hybrid::mutation_fix> for MutationFix {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(
        &'a self,
        input: &'a MutationFixInput,
        cx: &mut Cx<'_, hybrid::mutation_fix>,
    ) -> Ask<MutationFixTpl<'a>> {
        let memory = cx.memory();
        let spec = cx.entry()?;
        let context = MutationFixTemplateCtx {
            fix_targets: input.fix_targets.clone(),
            functions: memory.functions,
            test_path: spec.test_path.clone(),
            attempt: memory.mutation_fix_attempt,
            max_attempts: spec.strictness.max_fix_attempts,
        };
        let session = match memory.tests_session.and_then(|had| had.of(cx.run_id())) {
            Some(session) => SessionOp::ContinueFrom(session),
            None => SessionOp::StartFresh(Slug::new("tests")?),
        };
        Ok((MutationFixTpl::new(context, self.0.toolchain()), session))
    }

    async fn after(
        &self,
        input: MutationFixInput,
        reply: Reply<TestsAgentOutput>,
        cx: &mut Cx<'_, hybrid::mutation_fix>,
    ) -> Route<hybrid::mutation_fix> {
        // Results of the code with other tests do not apply to this.
        forget_checks(cx, [Check::MutantsCaught, Check::MergedTestsPass]);
        let implementation = input.validated.merged_state.verified_results.blind_results.implementation;
        match accept_tests(&self.0, cx, reply).await? {
            Ok(tests) => goto!(cx, hybrid::verify, BlindResults { tests, implementation }),
            Err(failure) => end(cx, failure),
        }
    }
}
