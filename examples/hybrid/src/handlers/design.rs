//! The design phase: types with stubs, the skeleton check beside the adversary's attack, and repairs.

use super::ending::{end, note_check};
use crate::commit_message::{CommitMessage, Phase};
use crate::graph::hybrid;
use crate::paths::Role;
use crate::places::Place;
use crate::prompts::{TypeAdversaryTpl, TypesFixTpl, TypesTpl};
use crate::source::{ContractMismatch, check_claimed_functions, check_stubs};
use crate::types::{
    Check, HybridFailure, PriorTypeFix, SkeletonState, StackSpec, TypeAdversaryOutput, TypeHolesFound,
    TypesAgentOutput, TypesResult,
};
use crate::verdicts::type_adversary_result;
use crate::workbench::{WorkError, Workbench};
use interlocking::prelude::*;
use interlocking::worktree::CommitId;
use std::sync::Arc;

/// Handler of `types` (HY-38).
pub struct Types(pub Arc<Workbench>);

/// Handler of `skeleton` (HY-39).
pub struct Skeleton(pub Arc<Workbench>);

/// Handler of `adversary` (HY-40).
pub struct TypeAdversary(pub Arc<Workbench>);

/// Handler of `types_fix` (HY-42).
pub struct TypesFix(pub Arc<Workbench>);

impl LLMHandler<hybrid::types> for Types {
    async fn before<'a>(&'a self, spec: &'a StackSpec, _: &mut Cx<'_, hybrid::types>) -> Ask<TypesTpl<'a>> {
        self.0.places.open(Place::Skeleton, self.0.places.base()).await?;
        Ok((TypesTpl { spec, toolchain: self.0.toolchain() }, SessionOp::StartFresh(Slug::new("types")?)))
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
        cx.committed(Place::Skeleton.name(), commit.to_string());
        remember(cx, &result);
        let output = result.output.clone();
        fork!(cx, (result, output))
    }
}

impl LLMHandler<hybrid::types_fix> for TypesFix {
    async fn before<'a>(
        &'a self,
        found: &'a TypeHolesFound,
        cx: &mut Cx<'_, hybrid::types_fix>,
    ) -> Ask<TypesFixTpl<'a>> {
        let session = cx.memory().types_session.ok_or(WorkError::Missing { what: "the types agent's session" })?;
        let prompt = TypesFixTpl { found, toolchain: self.0.toolchain(), impl_path: &self.0.spec_paths(cx.entry()?) };
        Ok((prompt, SessionOp::ContinueFrom(session)))
    }

    async fn after(
        &self,
        found: TypeHolesFound,
        reply: Reply<TypesAgentOutput>,
        cx: &mut Cx<'_, hybrid::types_fix>,
    ) -> Route<hybrid::types_fix> {
        let spec = cx.entry()?.clone();
        let since = self.0.places.head(Place::Skeleton).await?;
        let (result, commit) = match accept_types(&self.0, "types_fix", since, &spec, reply).await? {
            Ok(accepted) => accepted,
            Err(failure) => return end(cx, failure),
        };
        cx.committed(Place::Skeleton.name(), commit.to_string());
        remember(cx, &result);
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
