//! The design phase: types with stubs, the skeleton check beside the adversary's attack, and repairs.

use super::ending::{end, forget_checks, listed, node_name, note_check};
use super::{Skeleton, TypeAdversary, Types, TypesFix};
use crate::commit_message::{CommitMessage, Phase, types_summary};
use crate::graph::{Hybrid, hybrid};
use crate::language::Language;
use crate::paths::Role;
use crate::places::TYPES_REVIEW;
use crate::prompts::{TypeAdversaryTpl, TypesFixTpl, TypesTpl};
use crate::source::{ContractMismatch, check_claimed_functions, check_stubs};
use crate::types::{
    Check, Conversation, HybridFailure, HybridMemory, PriorTypeFix, SkeletonState, StackSpec, TypeAdversaryOutput,
    TypeHolesFound, TypesAgentOutput, TypesResult,
};
use crate::verdicts::type_adversary_result;
use crate::workbench::{Workbench, take_over_lock, write_if_absent};
use interlocking::graph::{Node, Remembers, Works};
use interlocking::prelude::*;
use interlocking::rust_source::Side;
use interlocking::workspaces::{FreshCheckout, GitWorkspacesError};

impl LLMHandler<hybrid::types> for Types {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(&'a self, spec: &'a StackSpec, cx: &mut Cx<'_, hybrid::types>) -> Ask<TypesTpl<'a>> {
        Ok((TypesTpl::new(spec, self.0.toolchain()), cx.fresh_session()))
    }

    async fn after(
        &self,
        spec: StackSpec,
        reply: Reply<TypesAgentOutput>,
        cx: &mut Cx<'_, hybrid::types>,
    ) -> Route<hybrid::types> {
        let result = match accept_types(&self.0, cx, &spec, reply).await? {
            Ok(accepted) => accepted,
            Err(failure) => return end(cx, failure),
        };
        let output = result.output.clone();
        fork!(cx, (result, output))
    }
}

impl LLMHandler<hybrid::types_fix> for TypesFix {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(
        &'a self,
        found: &'a TypeHolesFound,
        cx: &mut Cx<'_, hybrid::types_fix>,
    ) -> Ask<TypesFixTpl<'a>> {
        let session = match cx.memory().types_session.and_then(|had| had.of(cx.run_id())) {
            Some(session) => SessionOp::ContinueFrom(session),
            // The prompt contains everything, so a fresh session is enough.
            None => SessionOp::StartFresh(Slug::new("types")?),
        };
        Ok((TypesFixTpl::new(found, cx.entry()?, self.0.toolchain()), session))
    }

    async fn after(
        &self,
        found: TypeHolesFound,
        reply: Reply<TypesAgentOutput>,
        cx: &mut Cx<'_, hybrid::types_fix>,
    ) -> Route<hybrid::types_fix> {
        let spec = cx.entry()?.clone();
        let result = match accept_types(&self.0, cx, &spec, reply).await? {
            Ok(accepted) => accepted,
            Err(failure) => return end(cx, failure),
        };
        let design_notes = result.output.design_notes.clone();
        let repair = PriorTypeFix { attempt: found.attempt, holes: found.holes, design_notes };
        cx.update_memory(move |memory| {
            memory.type_fix_attempt = repair.attempt;
            memory.prior_type_fixes.push(repair.clone());
        });
        let output = result.output.clone();
        fork!(cx, (result, output))
    }
}

impl LogicHandler<hybrid::skeleton> for Skeleton {
    async fn run(&self, types: TypesResult, cx: &mut Cx<'_, hybrid::skeleton>) -> Route<hybrid::skeleton> {
        // Results of an earlier skeleton do not apply to this one.
        forget_checks(cx, [Check::SkeletonBuilds, Check::SkeletonIsStubs]);
        let spec = cx.entry()?.clone();
        let mut worktree = cx.worktree().await?;
        let (project_path, since) = (worktree.path().to_owned(), worktree.head());
        let scaffold = Language::of_task(&spec).comment(&format!("Properties of `{}`.", spec.module_name));
        write_if_absent(&mut worktree, &spec.test_path, &scaffold).await?;
        let mut checked_out = worktree.examine().await?;
        if let Some(failure) = self.examine(&checked_out, &spec, cx).await? {
            return end(cx, failure);
        }
        // A build that resolved new dependencies has written them to the lock file.
        let mut worktree = cx.worktree().await?;
        if take_over_lock(&mut worktree, &checked_out).await? {
            let examined = checked_out.commit();
            checked_out = worktree.examine().await?;
            let changed = self.0.changed(examined, checked_out.commit()).await?;
            if let Some(path) = changed.into_iter().find(|path| path != "Cargo.lock") {
                let (name, path) = (worktree.name().to_owned(), path.parse()?);
                return Err(GitWorkspacesError::ChangedMeanwhile { name, path }.into());
            }
        }
        let examined = checked_out.commit();
        drop(checked_out);
        let message = CommitMessage::new(
            Phase::Skeleton,
            &format!("{} checked: stubs that build", types.output.type_name),
            [format!("Tests: {}", spec.test_path)],
            cx.run_id().clone(),
            node_name(cx.node())?,
            interlocking::agents::Cost::ZERO,
        );
        let committed = cx.worktree().await?.commit_examined(examined, message.to_string()).await?;
        // After a repair of the types the scaffold is already there, and the types commit is the skeleton.
        let commit = committed.unwrap_or(since);
        cx.update_memory(move |memory| memory.skeleton_commit = Some(commit));
        let StackSpec { impl_path, test_path, .. } = spec;
        goto!(cx, hybrid::gate, SkeletonState { types_result: types, impl_path, test_path, project_path })
    }
}

impl Skeleton {
    /// Checks the skeleton: what is wrong with it, if something is.
    async fn examine(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        cx: &mut Cx<'_, hybrid::skeleton>,
    ) -> Result<Option<HybridFailure>, NodeError> {
        let does_not_build = |diagnostics: String| Some(HybridFailure::SkeletonDoesNotBuild { diagnostics });
        let stubs = match self.0.functions_in(checked_out, spec).await? {
            Ok(functions) => check_stubs(&functions),
            Err(error) => return Ok(does_not_build(error.to_string())),
        };
        let hidden = match self.0.hidden_in(checked_out, spec).await? {
            Ok(hidden) => hidden,
            Err(error) => return Ok(does_not_build(error.to_string())),
        };
        let seen = match hidden.is_empty() {
            true => listed(&stubs, "every public body is a stub"),
            false => listed(&hidden, ""),
        };
        note_check(cx, Check::SkeletonIsStubs, stubs.is_empty() && hidden.is_empty(), seen);
        if let Some(mismatch) = stubs.into_iter().next() {
            return Ok(Some(mismatch.into()));
        }
        if !hidden.is_empty() {
            return Ok(Some(HybridFailure::NotVerifiable { refused: hidden }));
        }
        match self.0.refused(checked_out, Side::Implementation, spec).await? {
            Ok(refused) if !refused.is_empty() => return Ok(Some(HybridFailure::NotVerifiable { refused })),
            Ok(_) => {}
            Err(not_rust) => return Ok(does_not_build(not_rust.to_string())),
        }
        let build = self.0.build(checked_out).await?;
        note_check(cx, Check::SkeletonBuilds, build.passed(), if build.passed() { "it builds" } else { "it does not" });
        Ok(if build.passed() { None } else { does_not_build(build.diagnostics().to_owned()) })
    }
}

impl LLMHandler<hybrid::adversary> for TypeAdversary {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(
        &'a self,
        types: &'a TypesAgentOutput,
        cx: &mut Cx<'_, hybrid::adversary>,
    ) -> Ask<TypeAdversaryTpl<'a>> {
        let (spec, commit) = (cx.entry()?.clone(), cx.worktree().await?.head());
        let (constraints, told_by) = self.0.project_at(commit, &spec).await?.constraints().await;
        let provider = told_by.clone();
        cx.update_memory(move |memory| memory.ground_truth.type_constraints = Some(provider.clone()));
        // Always a fresh session: an adversary that had built the types would defend them (HY-07).
        let prompt = TypeAdversaryTpl::new(types, &spec.impl_path, constraints, told_by);
        Ok((prompt, SessionOp::StartFresh(Slug::new("type-adversary")?)))
    }

    async fn after(
        &self,
        _: TypesAgentOutput,
        reply: Reply<TypeAdversaryOutput>,
        cx: &mut Cx<'_, hybrid::adversary>,
    ) -> Route<hybrid::adversary> {
        goto!(cx, hybrid::gate, type_adversary_result(reply.output))
    }
}

/// Checks a types agent's report against the disk, commits its work, moves the adversary's place to the commit, and stores what
/// later rounds need.
async fn accept_types<N>(
    bench: &Workbench,
    cx: &mut Cx<'_, N>,
    spec: &StackSpec,
    reply: Reply<TypesAgentOutput>,
) -> Result<Result<TypesResult, HybridFailure>, NodeError>
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory> + Works,
{
    let (output, cost, run, node) = (reply.output, reply.usage.cost, cx.run_id().clone(), cx.node());
    let mut worktree = cx.worktree().await?;
    if let Some(failure) = bench.misconduct(node, Role::Types, &worktree, &output, spec).await? {
        return Ok(Err(failure));
    }
    let on_disk = match bench.functions(&worktree, spec).await? {
        Ok(functions) => functions,
        Err(error) => return Ok(Err(HybridFailure::SkeletonDoesNotBuild { diagnostics: error.to_string() })),
    };
    let claimed: Vec<&str> = output.functions.iter().map(|function| function.name.as_str()).collect();
    if let Some(mismatch) = check_claimed_functions(&claimed, &on_disk).into_iter().next() {
        return Ok(Err(mismatch.into()));
    }
    let brief = format!("{}: {}", output.type_name, output.type_description);
    let message = CommitMessage::new(Phase::Types, &brief, types_summary(&output), run.clone(), node_name(node)?, cost);
    let since = worktree.head();
    let commit = worktree.commit(message.to_string()).await?.unwrap_or(since);
    cx.worktree_of(TYPES_REVIEW).await?.reset(commit).await?;
    let (functions, had) = (output.functions.clone(), Conversation { run, session: reply.session.clone() });
    cx.update_memory(move |memory| {
        memory.functions.clone_from(&functions);
        memory.types_session = Some(had.clone());
    });
    Ok(Ok(TypesResult { output, session_id: reply.session, cost }))
}

impl From<ContractMismatch> for HybridFailure {
    fn from(mismatch: ContractMismatch) -> Self {
        match mismatch {
            ContractMismatch::ClaimedFunctionNotOnDisk { name } => Self::ClaimedFunctionNotOnDisk { name },
            ContractMismatch::UndeclaredFunctionOnDisk { name } => Self::UndeclaredFunctionOnDisk { name },
            ContractMismatch::StubNotUndefined { name } => Self::StubNotUndefined { function: name },
        }
    }
}
