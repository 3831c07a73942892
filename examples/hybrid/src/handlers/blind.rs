//! The blind phase: tests and implementation are written at the same time, each without the other.

use super::ending::{end, forget_checks, node_name, note_check};
use super::{Blind, BlindFork, Implementation, Tests};
use crate::commit_message::{CommitMessage, Phase, impl_summary, tests_summary};
use crate::graph::{Hybrid, hybrid};
use crate::paths::Role;
use crate::prompts::{ImplTpl, TestsTpl};
use crate::types::{
    BlindResults, Check, Conversation, GatedState, HybridFailure, HybridMemory, ImplAgentOutput, ImplResult,
    ImplTemplateCtx, TestsAgentOutput, TestsResult, TestsTemplateCtx,
};
use crate::verdicts::{hardening_hints, impl_context, tests_context, verify_claims};
use crate::workbench::Workbench;
use interlocking::graph::{Node, Remembers, Works};
use interlocking::prelude::*;
use interlocking::rust_source::{Side, TestFile};
use interlocking::toolchain::{BuildOutcome, TestRun};
use interlocking::toolchain::{RedCheck, red_check};

impl ForkHandler<hybrid::blind_fork> for BlindFork {
    async fn fork(&self, gated: GatedState, cx: &mut Cx<'_, hybrid::blind_fork>) -> Route<hybrid::blind_fork> {
        let memory = cx.memory();
        let hints = hardening_hints(&gated.type_adversary, &memory.prior_type_fixes);
        // Neither side has names to publish yet (CON-79).
        let tests = tests_context(&gated, None, None, hints.clone());
        let implementation = impl_context(&gated, None, hints);
        fork!(cx, (tests, implementation))
    }
}

impl LLMHandler<hybrid::tests> for Tests {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(&'a self, context: &'a TestsTemplateCtx, cx: &mut Cx<'_, hybrid::tests>) -> Ask<TestsTpl<'a>> {
        let session = match cx.memory().tests_session.and_then(|had| had.of(cx.run_id())) {
            Some(session) => SessionOp::ContinueFrom(session),
            None => cx.fresh_session(),
        };
        Ok((TestsTpl::new(context, self.0.toolchain()), session))
    }

    async fn after(
        &self,
        _: TestsTemplateCtx,
        reply: Reply<TestsAgentOutput>,
        cx: &mut Cx<'_, hybrid::tests>,
    ) -> Route<hybrid::tests> {
        match accept_tests(&self.0, cx, reply).await? {
            Ok(tests) => goto!(cx, hybrid::blind, tests),
            Err(failure) => end(cx, failure),
        }
    }
}

impl LLMHandler<hybrid::implementation> for Implementation {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(
        &'a self,
        context: &'a ImplTemplateCtx,
        _: &mut Cx<'_, hybrid::implementation>,
    ) -> Ask<ImplTpl<'a>> {
        let prompt = ImplTpl::new(context, self.0.toolchain());
        Ok((prompt, SessionOp::StartFresh(Slug::new("impl")?)))
    }

    async fn after(
        &self,
        _: ImplTemplateCtx,
        reply: Reply<ImplAgentOutput>,
        cx: &mut Cx<'_, hybrid::implementation>,
    ) -> Route<hybrid::implementation> {
        let (spec, node, output) = (cx.entry()?.clone(), cx.node(), reply.output);
        let worktree = cx.worktree().await?;
        if let Some(failure) = self.0.misconduct(node, Role::Implementation, &worktree, &output, &spec).await? {
            return end(cx, failure);
        }
        let (path, since) = (worktree.path().to_owned(), worktree.head());
        let checked_out = worktree.examine().await?;
        let build = match self.0.refused(&checked_out, Side::Implementation, &spec).await? {
            Ok(refused) if !refused.is_empty() => return end(cx, HybridFailure::NotVerifiable { refused }),
            Ok(_) => self.0.build(&checked_out).await?,
            Err(not_rust) => BuildOutcome::Failed { diagnostics: not_rust.to_string() },
        };
        let examined = checked_out.commit();
        drop(checked_out);
        let detail = if build.passed() { "it builds" } else { "it does not, whatever its agent says" };
        note_check(cx, Check::ImplementationBuilds, build.passed(), detail);
        if !build.passed() {
            return end(cx, HybridFailure::ImplementationDoesNotBuild { diagnostics: build.diagnostics().to_owned() });
        }
        let message = CommitMessage::new(
            Phase::Impl,
            &output.commit_msg,
            impl_summary(&output),
            cx.run_id().clone(),
            node_name(node)?,
            reply.usage.cost,
        );
        let committed = cx.worktree().await?.commit_examined(examined, message.to_string()).await?;
        let commit_hash = committed.unwrap_or(since);
        let (session_id, cost) = (reply.session, reply.usage.cost);
        goto!(cx, hybrid::blind, ImplResult { output, worktree: path, commit_hash, session_id, cost })
    }
}

impl JoinHandler<hybrid::blind> for Blind {
    async fn join(
        &self,
        (tests, implementation): (TestsResult, ImplResult),
        cx: &mut Cx<'_, hybrid::blind>,
    ) -> Route<hybrid::blind> {
        goto!(cx, hybrid::verify, BlindResults { tests, implementation })
    }
}

/// Checks a tests agent's report against the disk, runs the tests on the stubs, and commits them.
pub(super) async fn accept_tests<N>(
    bench: &Workbench,
    cx: &mut Cx<'_, N>,
    reply: Reply<TestsAgentOutput>,
) -> Result<Result<TestsResult, HybridFailure>, NodeError>
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory> + Works,
{
    let (spec, memory, node) = (cx.entry()?.clone(), cx.memory(), cx.node());
    // Results of earlier tests do not apply to these.
    forget_checks(cx, [Check::TestsFailForTheirAgent, Check::TestsFailOnSkeleton, Check::CoverageConfirmed]);
    let output = reply.output.with_verified(&memory.verified_properties);
    let worktree = cx.worktree().await?;
    if let Some(failure) = bench.misconduct(node, Role::Tests, &worktree, &output, &spec).await? {
        return Ok(Err(failure));
    }
    // The agent's word is not enough: run them here too, before anything is committed (HY-28, CON-80). Tests that are not red are
    // committed all the same; the red check sends them back, and the archive keeps them.
    let names: Vec<String> = output.properties.iter().map(|property| property.name.clone()).collect();
    let known = spec.known_tests(&names);
    let (path, since) = (worktree.path().to_owned(), worktree.head());
    let checked_out = worktree.examine().await?;
    // Neither run nor read if something is refused, or cannot be read.
    let are_accepted = bench.refused(&checked_out, Side::Tests, &spec).await?.is_ok_and(|refused| refused.is_empty());
    let red = match are_accepted {
        true => match bench.test(&checked_out, known).await? {
            TestRun::Ran(outcome) => red_check(&outcome, names.iter().map(String::as_str)),
            TestRun::DidNotBuild { .. } | TestRun::Forged { .. } => RedCheck::default(),
        },
        false => RedCheck::default(),
    };
    let (saw_them_fail, detail) = match (output.self_verified, red.is_red()) {
        (true, true) => (true, "the agent says so, and so it is"),
        (true, false) => (false, "the agent says so, but not every one fails"),
        (false, _) => (false, "the agent does not say so"),
    };
    note_check(cx, Check::TestsFailForTheirAgent, saw_them_fail, detail);
    let failure_proof = red.proof;
    let (functions, claimed) = (&memory.functions, &output.properties);
    let by_syntax = |on_disk| verify_claims(functions, claimed, &on_disk, None).coverage;
    let coverage = match are_accepted {
        true => match bench.claims_by_server(&checked_out, &spec, functions, claimed).await? {
            Some(verified) => verified.coverage,
            None => by_syntax(bench.test_file(&checked_out, &spec).await?.unwrap_or_default()),
        },
        false => by_syntax(TestFile::default()),
    };
    let examined = checked_out.commit();
    drop(checked_out);
    let message = CommitMessage::new(
        Phase::Tests,
        &output.commit_msg,
        tests_summary(&output, &coverage, &failure_proof),
        cx.run_id().clone(),
        node_name(node)?,
        reply.usage.cost,
    );
    let committed = cx.worktree().await?.commit_examined(examined, message.to_string()).await?;
    let commit_hash = committed.unwrap_or(since);
    let had = Conversation { run: cx.run_id().clone(), session: reply.session.clone() };
    cx.update_memory(move |memory| memory.tests_session = Some(had.clone()));
    let (session_id, cost) = (reply.session, reply.usage.cost);
    Ok(Ok(TestsResult { output, worktree: path, commit_hash, session_id, cost, failure_proof }))
}
