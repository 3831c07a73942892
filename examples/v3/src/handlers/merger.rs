//! Merger: one commit on the parent's branch, made and verified off to the side (CON-31). The parent's branch stays where it is until that
//! commit is judged.

use super::Merger;
use super::claims::touched_interfaces;
use super::endings::undecided;
use super::merge_queue::{give_turn_back, take_turn};
use super::places::{CANDIDATE, is_merge_of_child, merge_subject, standing};
use crate::checks::source::{Versions, seen_by_others};
use crate::graph::v3;
use crate::prompts::MergerPrompt;
use crate::types::implementation::ImplInput;
use crate::types::merge::{MergeRejected, MergerExit, MergerInput, RejectionReason};
use crate::types::outcome::V3Outcome;
use crate::types::shared::{ImpactLevel, MergeComplete};
use crate::types::tdd::JudgeInput;
use crate::workbench::is_below;
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::rust_source::Change;
use interlocking::workspaces::{Checkout, FilePath, GitWorkspacesError, changed_paths, in_repository, text_at};
use interlocking::worktree::{CherryPickError, CommitId, CommitRecord, MergeError, RebaseError};
use std::ops::Range;

impl LLMHandler<v3::merger> for Merger {
    async fn before<'a>(&'a self, input: &'a MergerInput, cx: &mut Cx<'_, v3::merger>) -> Ask<MergerPrompt<'a>> {
        // It is, unless another process has begun this.
        take_turn(cx).await?;
        let conflict = make_candidate(cx).await?;
        let remembered = conflict.clone();
        cx.update_memory(move |memory| memory.conflict.clone_from(&remembered));
        let fork = cx.input_of::<v3::fork>()?;
        let session = SessionOp::ForkFrom { parent: fork.session, slug: Slug::new("merger")? };
        Ok((MergerPrompt { input, conflict }, session))
    }

    async fn after(
        &self,
        input: MergerInput,
        reply: Reply<MergerExit>,
        cx: &mut Cx<'_, v3::merger>,
    ) -> Route<v3::merger> {
        cx.label(&reply.output);
        let claim = match reply.output {
            MergerExit::MergeRejected(rejected) => return reject(rejected, cx),
            MergerExit::MergeComplete(claim) => claim,
        };
        if let Some(rejected) = self.rejection(&input, cx).await? {
            return reject(rejected, cx);
        }
        let (repository, spec) = (cx.repository()?, cx.entry()?.spec.clone());
        let candidate = cx.worktree_of(CANDIDATE).await?.head();
        let target = merges_onto(cx).await?;
        // Which commit it is and whose is known; what it means to others is at least what can be seen of it.
        let seen = impact(cx, target, candidate).await?;
        let impact_level = claim.impact_level.max(seen);
        let merge = MergeComplete { merge_commit: candidate, author: spec.id.clone(), impact_level, ..claim };
        if cx.parent().is_none() {
            let merge = MergeComplete { merge_commit: cx.land(candidate).await?, ..merge };
            return goto!(cx, v3::exit, V3Outcome::Merged(merge));
        }
        let diff = in_repository(repository, move |repository| Ok(repository.unified_diff(target, candidate)?));
        let assigned = cx.entry()?.parent_context.as_ref().map(|context| context.assigned_criteria.clone());
        let judged = JudgeInput {
            child_spec: spec,
            assigned_criteria: assigned.unwrap_or_default(),
            diff: diff.await?,
            sibling_changes: cx.memory().heard,
            merge,
        };
        goto!(cx, v3::judge, judged)
    }

    async fn unanswered(&self, _: MergerInput, error: AgentError, cx: &mut Cx<'_, v3::merger>) -> Route<v3::merger> {
        goto!(cx, v3::exit, undecided(error, cx.attempt())?)
    }
}

/// Puts the node's work on the parent's branch, in the candidate's workspace: as one commit (V3-89). The root's keeps the commit of each
/// child, and those of the scaffolds on which they stand. Gives why that cannot be done.
async fn make_candidate(cx: &mut Cx<'_, v3::merger>) -> Result<Option<String>, NodeError> {
    let id = cx.entry()?.spec.id.clone();
    let (is_root, repository, at) = (cx.parent().is_none(), cx.repository()?, standing(cx).await?);
    let target = merges_onto(cx).await?;
    // Not where the parent was rebased meanwhile, and the message is on its way.
    let stands_on_target = is_below(repository.clone(), at.base, target).await?;
    let mut candidate = cx.worktree_of(CANDIDATE).await?;
    let made = async {
        let (mut base, mut head) = (at.base, at.head);
        if !stands_on_target {
            candidate.reset(head).await?;
            (base, head) = (target, candidate.rebase(at.base, target).await?);
        }
        candidate.reset(target).await?;
        let commits = if is_root { repository.commits(base..head)? } else { Vec::new() };
        let is_of_child = |commit: &CommitRecord| is_merge_of_child(&id, commit.subject());
        let mut since = base;
        for (position, commit) in commits.iter().enumerate() {
            if is_of_child(commit) {
                candidate.cherry_pick(since, commit.id).await?;
            } else if commits.get(position + 1).is_some_and(is_of_child) {
                squash(&mut candidate, since..commit.id, format!("feat({id}): scaffold")).await?;
            } else {
                continue;
            }
            since = commit.id;
        }
        match since == base {
            true => candidate.squash_merge(head, merge_subject(&id)).await,
            false => squash(&mut candidate, since..head, merge_subject(&id)).await,
        }
    };
    match made.await {
        Ok(_) => Ok(None),
        Err(GitWorkspacesError::Merge(error @ MergeError::Conflict { .. })) => Ok(Some(error.to_string())),
        Err(GitWorkspacesError::Rebase(error @ RebaseError::Conflict { .. })) => Ok(Some(error.to_string())),
        Err(GitWorkspacesError::CherryPick(error @ CherryPickError::Conflict { .. })) => Ok(Some(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// What the candidate is made on: where the branch is on which it is to land. A process that was killed once the root had landed has moved
/// that; the same candidate is made again then, for which nothing is left to do.
async fn merges_onto(cx: &mut Cx<'_, v3::merger>) -> Result<CommitId, NodeError> {
    let (_, now) = cx.target().await?;
    if cx.parent().is_some() {
        return Ok(now);
    }
    let begun = cx.once("merges onto", std::future::ready(Ok(now))).await?;
    if begun == now {
        return Ok(now);
    }
    let subject = merge_subject(&cx.entry()?.spec.id);
    let has_landed = in_repository(cx.repository()?, move |repository| {
        Ok(repository.commits(begun..now)?.iter().any(|commit| commit.subject() == subject))
    });
    Ok(if has_landed.await? { begun } else { now })
}

/// Puts commits on top as one.
async fn squash(
    candidate: &mut Checkout<'_>,
    commits: Range<CommitId>,
    message: String,
) -> Result<CommitId, GitWorkspacesError> {
    let at = candidate.head();
    let picked = candidate.cherry_pick(commits.start, commits.end).await?;
    candidate.reset(at).await?;
    candidate.squash_merge(picked, message).await
}

impl Merger {
    /// What is wrong with the candidate: build, contract and every test, in this order (V3-90, V3-91).
    async fn rejection(
        &self,
        input: &MergerInput,
        cx: &mut Cx<'_, v3::merger>,
    ) -> Result<Option<MergeRejected>, NodeError> {
        let rejected = |reason, details: String, failing_tests: Vec<String>| {
            Ok(Some(MergeRejected { reason, details, failing_tests }))
        };
        if let Some(conflict) = cx.memory().conflict {
            return rejected(RejectionReason::IntegrationFailure, conflict, Vec::new());
        }
        let repository = cx.repository()?;
        let candidate = cx.worktree_of(CANDIDATE).await?.head();
        let target = merges_onto(cx).await?;
        let touched = changed_paths(repository, target, candidate).await?;
        let (spec, interfaces) = (cx.entry()?.spec.clone(), cx.entry()?.lineage.interface_files.clone());
        if let Some(violation) = touched_interfaces(&touched, &interfaces) {
            return rejected(RejectionReason::ContractViolation, violation.to_string(), Vec::new());
        }
        let checkout = cx.fresh_checkout(candidate).await?;
        let built = self.0.build(&checkout).await?;
        if !built.passed() {
            return rejected(RejectionReason::BuildFailure, built.diagnostics().to_owned(), Vec::new());
        }
        let contract = self.0.suite(&checkout, &input.contract_suite, &[]).await?;
        if !contract.is_green() {
            return rejected(RejectionReason::ContractViolation, contract.details(), contract.failing());
        }
        let all = self.0.every_test(&checkout, &spec.test_path).await?;
        // Of a child's, those of the nodes above still reach what the others have to write.
        let is_fine = if cx.parent().is_none() { all.is_green() } else { all.is_free_of_failures() };
        match is_fine {
            true => Ok(None),
            false => rejected(RejectionReason::IntegrationFailure, all.details(), all.failing()),
        }
    }
}

/// What a change means to others, as far as it can be seen in the source.
async fn impact(cx: &mut Cx<'_, v3::merger>, from: CommitId, to: CommitId) -> Result<ImpactLevel, NodeError> {
    let repository = cx.repository()?;
    let mut impact = ImpactLevel::Trivial;
    for path in changed_paths(repository.clone(), from, to).await? {
        let path = FilePath::new(path)?;
        let before = text_at(repository.clone(), from, &path).await?;
        let now = text_at(repository.clone(), to, &path).await?;
        let changes = seen_by_others(&Versions { path, before, now });
        let of_change = |change: &Change| match change {
            Change::Added => ImpactLevel::Additive,
            Change::Removed | Change::Changed { .. } => ImpactLevel::Breaking,
        };
        impact = changes.iter().map(of_change).fold(impact, ImpactLevel::max);
    }
    Ok(impact)
}

fn reject(rejected: MergeRejected, cx: &mut Cx<'_, v3::merger>) -> Route<v3::merger> {
    give_turn_back(cx);
    let input = cx.input_of::<v3::implement>()?;
    let again = ImplInput {
        merge_rejection: Some(rejected),
        attempt_count: 1,
        retry_feedback: None,
        critique_list: None,
        ..input
    };
    goto!(cx, v3::implement, again)
}
