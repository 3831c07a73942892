//! The design phase: types with stubs, the skeleton check beside the adversary's attack, and repairs.

use super::ending::{end, forget_checks, listed, node_name, note_check};
use super::{Skeleton, TypeAdversary, Types, TypesFix};
use crate::commit_message::{CommitMessage, Phase, types_summary};
use crate::graph::{Hybrid, hybrid};
use crate::paths::Role;
use crate::places::{FreshCheckout, Place, PlaceError};
use crate::prompts::{TypeAdversaryTpl, TypesFixTpl, TypesTpl};
use crate::source::{ContractMismatch, check_claimed_functions, check_stubs};
use crate::types::{
    Check, Conversation, HybridFailure, HybridMemory, PriorTypeFix, SkeletonState, StackSpec, TypeAdversaryOutput,
    TypeHolesFound, TypesAgentOutput, TypesResult,
};
use crate::verdicts::type_adversary_result;
use crate::workbench::{WorkError, Workbench};
use interlocking::graph::{Node, Remembers};
use interlocking::prelude::*;
use interlocking::rust_source::Side;
use interlocking::worktree::CommitId;

impl LLMHandler<hybrid::types> for Types {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(&'a self, spec: &'a StackSpec, _: &mut Cx<'_, hybrid::types>) -> Ask<TypesTpl<'a>> {
        self.0.places.open(Place::Skeleton, self.0.places.base()).await?;
        Ok((TypesTpl::new(spec, self.0.toolchain()), SessionOp::StartFresh(Slug::new("types")?)))
    }

    async fn after(
        &self,
        spec: StackSpec,
        reply: Reply<TypesAgentOutput>,
        cx: &mut Cx<'_, hybrid::types>,
    ) -> Route<hybrid::types> {
        let since = self.0.places.base();
        let (result, commit) = match accept_types(&self.0, "types", since, &spec, reply).await? {
            Ok(accepted) => accepted,
            Err(failure) => return end(cx, failure),
        };
        remember(cx, &result, commit);
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
            // The prompt says all that there is to know.
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
        let missing = WorkError::Missing { what: "the skeleton commit" };
        let since = cx.memory().skeleton_commit.ok_or(missing)?;
        let (result, commit) = match accept_types(&self.0, "types_fix", since, &spec, reply).await? {
            Ok(accepted) => accepted,
            Err(failure) => return end(cx, failure),
        };
        remember(cx, &result, commit);
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
        // Whatever was seen of an earlier skeleton is not about this one.
        forget_checks(cx, [Check::SkeletonBuilds, Check::SkeletonIsStubs]);
        let spec = cx.entry()?.clone();
        let project_path = self.0.places.path(Place::Skeleton)?;
        let since = self.0.places.head(Place::Skeleton).await?;
        let scaffold = format!("//! Properties of `{}`.\n", spec.module_name);
        self.0.write_if_absent(Place::Skeleton, &spec.test_path, &scaffold).await?;
        let mut checked_out = self.0.places.check_out_work(Place::Skeleton, since).await?;
        if let Some(failure) = self.examine(&checked_out, &spec, cx).await? {
            drop(checked_out);
            self.0.places.take_back_commit(Place::Skeleton, since).await?;
            return end(cx, failure);
        }
        // A build that resolved new dependencies has written which.
        if self.0.take_over_lock(Place::Skeleton, checked_out.checkout()).await? {
            let examined = checked_out.commit();
            checked_out = self.0.places.check_out_work(Place::Skeleton, since).await?;
            let changed = self.0.places.changed(examined, checked_out.commit()).await?;
            if let Some(path) = changed.into_iter().find(|path| path != "Cargo.lock") {
                return Err(PlaceError::ChangedMeanwhile { place: Place::Skeleton.name(), path }.into());
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
        let committed = self.0.places.commit_examined(Place::Skeleton, since, examined, message.to_string()).await?;
        // After a repair of the types the scaffold is there already, and the types commit is the skeleton.
        let commit = committed.unwrap_or(since);
        cx.committed(Place::Skeleton.name(), commit.to_string());
        cx.update_memory(move |memory| memory.skeleton_commit = Some(commit));
        let StackSpec { impl_path, test_path, .. } = spec;
        goto!(cx, hybrid::gate, SkeletonState { types_result: types, impl_path, test_path, project_path })
    }
}

impl Skeleton {
    /// Holds the skeleton against what it is to be: what is wrong with it, if something is.
    async fn examine(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        cx: &mut Cx<'_, hybrid::skeleton>,
    ) -> Result<Option<HybridFailure>, WorkError> {
        let does_not_build = |diagnostics: String| Some(HybridFailure::SkeletonDoesNotBuild { diagnostics });
        let stubs = match self.0.functions_in(checked_out.checkout(), spec).await? {
            Ok(functions) => check_stubs(&functions),
            Err(error) => return Ok(does_not_build(error.to_string())),
        };
        let unseen = match self.0.unseen_in(checked_out.checkout(), spec).await? {
            Ok(unseen) => unseen,
            Err(error) => return Ok(does_not_build(error.to_string())),
        };
        let seen = match unseen.is_empty() {
            true => listed(&stubs, "every public body is a stub"),
            false => listed(&unseen, ""),
        };
        note_check(cx, Check::SkeletonIsStubs, stubs.is_empty() && unseen.is_empty(), seen);
        if let Some(mismatch) = stubs.into_iter().next() {
            return Ok(Some(mismatch.into()));
        }
        if !unseen.is_empty() {
            return Ok(Some(HybridFailure::NotVerifiable { refused: unseen }));
        }
        match self.0.refused(checked_out, Side::Implementation, spec).await? {
            Ok(refused) if !refused.is_empty() => return Ok(Some(HybridFailure::NotVerifiable { refused })),
            Ok(_) => {}
            Err(not_rust) => return Ok(does_not_build(not_rust.to_string())),
        }
        let build = self.0.runner.build(checked_out.checkout()).await?;
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
        // Always a stranger: an adversary that had built the types would defend them (HY-07).
        let prompt = TypeAdversaryTpl::new(types, &cx.entry()?.impl_path);
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

/// Holds a types agent's report against the disk, commits its work, and lays the commit out for the adversary.
async fn accept_types(
    bench: &Workbench,
    node: &str,
    since: CommitId,
    spec: &StackSpec,
    reply: Reply<TypesAgentOutput>,
) -> Result<Result<(TypesResult, CommitId), HybridFailure>, NodeError> {
    let output = reply.output;
    if let Some(failure) = bench.misconduct(node, Role::Types, Place::Skeleton, since, &output, spec).await? {
        return Ok(Err(failure));
    }
    let on_disk = match bench.functions(Place::Skeleton, spec).await? {
        Ok(functions) => functions,
        Err(error) => return Ok(Err(HybridFailure::SkeletonDoesNotBuild { diagnostics: error.to_string() })),
    };
    let claimed: Vec<&str> = output.functions.iter().map(|function| function.name.as_str()).collect();
    if let Some(mismatch) = check_claimed_functions(&claimed, &on_disk).into_iter().next() {
        return Ok(Err(mismatch.into()));
    }
    let cost = reply.usage.cost;
    let brief = format!("{}: {}", output.type_name, output.type_description);
    let run = bench.places.run().clone();
    let message = CommitMessage::new(Phase::Types, &brief, types_summary(&output), run, node_name(node)?, cost);
    let committed = bench.places.commit(Place::Skeleton, since, message.to_string()).await?;
    let commit = committed.unwrap_or(since);
    bench.places.open(Place::TypesReview, commit).await?;
    Ok(Ok((TypesResult { output, session_id: reply.session, cost }, commit)))
}

/// What later rounds need of the types, and where the places are that they were put into.
fn remember<N>(cx: &mut Cx<'_, N>, result: &TypesResult, commit: CommitId)
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory>,
{
    for place in [Place::Skeleton, Place::TypesReview] {
        cx.committed(place.name(), commit.to_string());
    }
    let had = Conversation { run: cx.run_id().clone(), session: result.session_id.clone() };
    let functions = result.output.functions.clone();
    cx.update_memory(move |memory| {
        memory.functions.clone_from(&functions);
        memory.types_session = Some(had.clone());
    });
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
