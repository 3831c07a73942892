//! Merger: makes and verifies one commit on the parent's branch in a workspace of its own (CON-31). The parent's branch stays
//! where it is until that commit is judged.

use super::Merger;
use super::claims::{messages, of_others};
use super::endings::{own_loop, undecided};
use super::merge_queue::{give_turn_back, take_turn};
use super::places::{CANDIDATE, heads, is_merge_of_child, merge_message};
use crate::checks::source::{Versions, seen_by_others};
use crate::graph::v3;
use crate::prompts::MergerPrompt;
use crate::types::implementation::ImplInput;
use crate::types::merge::{MergeRejected, MergerExit, MergerInput, RejectionReason};
use crate::types::outcome::{Stuck, V3Outcome};
use crate::types::shared::{ImpactLevel, MergeComplete};
use crate::types::tdd::JudgeInput;
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::rust_source::Change;
use interlocking::workspaces::{FilePath, changed_paths, in_repository, is_ancestor, text_at};
use interlocking::worktree::{CommitId, CommitRecord};

/// How many candidates the root makes at most. Each further one is made because the branch to land on has moved (CON-142).
const MOST_CANDIDATES: u32 = 16;

impl LLMHandler<v3::merger> for Merger {
    async fn before<'a>(&'a self, input: &'a MergerInput, cx: &mut Cx<'_, v3::merger>) -> Ask<MergerPrompt<'a>> {
        // This node has its turn already, unless another process began this execution.
        take_turn(cx).await?;
        let conflict = match landed(cx).await? {
            // The merge has landed: there is nothing left to make.
            Some(merge) => {
                cx.worktree_of(CANDIDATE).await?.reset(merge.merge_commit).await?;
                None
            }
            None => prepare(cx).await?,
        };
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
        if let Some(merge) = landed(cx).await? {
            return goto!(cx, v3::exit, V3Outcome::Merged(merge));
        }
        cx.label(&reply.output);
        if let Some(outcome) = does_not_fit(cx).await? {
            return goto!(cx, v3::exit, outcome);
        }
        let claim = match reply.output {
            MergerExit::MergeRejected(rejected) => return reject(rejected, cx),
            MergerExit::MergeComplete(claim) => claim,
        };
        for _ in 0..MOST_CANDIDATES {
            if let Some(rejected) = self.rejection(&input, cx).await? {
                return reject(rejected, cx);
            }
            let merge = as_seen(claim.clone(), cx).await?;
            if cx.parent().is_some() {
                return judge(merge, cx).await;
            }
            if land(&merge, cx).await? {
                return goto!(cx, v3::exit, V3Outcome::Merged(merge));
            }
            cx.note("the branch to land on has moved meanwhile: the candidate is made again");
            prepare(cx).await?;
            if let Some(outcome) = does_not_fit(cx).await? {
                return goto!(cx, v3::exit, outcome);
            }
        }
        let stuck = Stuck {
            diagnosis: format!(
                "the branch to land on has moved before each of {MOST_CANDIDATES} candidates could land"
            ),
            recommendation: "run it while nothing else commits to that branch".to_owned(),
            attempts: cx.attempt(),
            spent_loop: Some(own_loop("merger")),
        };
        goto!(cx, v3::exit, V3Outcome::Stuck(stuck))
    }

    async fn unanswered(&self, _: MergerInput, error: AgentError, cx: &mut Cx<'_, v3::merger>) -> Route<v3::merger> {
        if let Some(merge) = landed(cx).await? {
            return goto!(cx, v3::exit, V3Outcome::Merged(merge));
        }
        // The answer does not matter then.
        let outcome = match does_not_fit(cx).await? {
            Some(outcome) => outcome,
            None => undecided(error, cx.attempt())?,
        };
        goto!(cx, v3::exit, outcome)
    }
}

/// The end of a root whose work does not fit the branch to land on: no node of the run could change that, as no other branch of it
/// has that branch's commits.
async fn does_not_fit(cx: &mut Cx<'_, v3::merger>) -> Result<Option<V3Outcome>, NodeError> {
    let Some(conflict) = cx.memory().conflict.filter(|_| cx.parent().is_none()) else { return Ok(None) };
    let (branch, _) = cx.target().await?;
    Ok(Some(V3Outcome::Stuck(Stuck {
        diagnosis: conflict,
        recommendation: format!(
            "`{branch}` has been changed in the same places meanwhile: run it again on what is there now"
        ),
        attempts: cx.attempt(),
        spent_loop: None,
    })))
}

/// The facts of a merge of the candidate, whatever the agent claims: its commit, its author, and at least the impact that can be
/// detected.
async fn as_seen(claim: MergeComplete, cx: &mut Cx<'_, v3::merger>) -> Result<MergeComplete, NodeError> {
    let merge_commit = cx.worktree_of(CANDIDATE).await?.head();
    let seen = impact(cx, made_on(cx)?, merge_commit).await?;
    let impact_level = claim.impact_level.max(seen);
    Ok(MergeComplete { merge_commit, author: cx.entry()?.spec.id.clone(), impact_level, ..claim })
}

async fn judge(merge: MergeComplete, cx: &mut Cx<'_, v3::merger>) -> Route<v3::merger> {
    let (target, candidate) = (made_on(cx)?, merge.merge_commit);
    let diff = in_repository(cx.repository()?, move |repository| Ok(repository.unified_diff(target, candidate)?));
    let context = cx.entry()?.parent_context.clone().ok_or("a node below the root has no context of its parent")?;
    let judged = JudgeInput {
        child_spec: cx.entry()?.spec.clone(),
        assigned_criteria: context.assigned_criteria,
        diff: diff.await?,
        sibling_changes: cx.memory().heard,
        merge,
    };
    goto!(cx, v3::judge, judged)
}

/// The name of the recorded effect for the root's intended landing `number`.
fn landing(number: u32) -> String {
    format!("root lands {number}")
}

/// Records the root's candidate, then lands it. Returns `false` if the branch has moved since the candidate was made.
async fn land(merge: &MergeComplete, cx: &mut Cx<'_, v3::merger>) -> Result<bool, NodeError> {
    for number in 1.. {
        let intended = cx.once(&landing(number), std::future::ready(Ok(merge.clone()))).await?;
        if intended.merge_commit == merge.merge_commit {
            break;
        }
    }
    match cx.land(merge.merge_commit).await {
        Ok(_) => Ok(true),
        Err(error) if error.has_moved() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The merge that the root had landed before the process was killed and its outcome recorded: then the new answer comes too late.
async fn landed(cx: &mut Cx<'_, v3::merger>) -> Result<Option<MergeComplete>, NodeError> {
    if cx.restarts() == 0 || cx.parent().is_some() {
        return Ok(None);
    }
    let (_, now) = cx.target().await?;
    for number in 1.. {
        // An effect that fails leaves no record.
        let unknown = std::future::ready(Err::<MergeComplete, _>(NotRecorded.into()));
        let intended = match cx.once(&landing(number), unknown).await {
            Ok(intended) => intended,
            Err(error) if error.is::<NotRecorded>() => break,
            Err(error) => return Err(error),
        };
        if is_ancestor(cx.repository()?, intended.merge_commit, now).await? {
            return Ok(Some(intended));
        }
    }
    Ok(None)
}

/// No process had recorded that it would land.
#[derive(Debug, thiserror::Error)]
#[error("it is not recorded")]
struct NotRecorded;

/// Makes the candidate, and stores its base, or why it could not be made.
async fn prepare(cx: &mut Cx<'_, v3::merger>) -> Result<Option<String>, NodeError> {
    let (_, target) = cx.target().await?;
    let conflict = make_candidate(target, cx).await?;
    let remembered = conflict.clone();
    cx.update_memory(move |memory| {
        memory.onto = Some(target);
        memory.conflict.clone_from(&remembered);
    });
    Ok(conflict)
}

/// The commit on which the candidate is made: the head of the branch on which it is to land.
fn made_on(cx: &Cx<'_, v3::merger>) -> Result<CommitId, NodeError> {
    cx.memory().onto.ok_or_else(|| NotRecorded.into())
}

/// Puts the node's work on the parent's branch, in the candidate's workspace: as one commit (V3-89). The root keeps the commit of
/// each child, and those of the scaffolds below them. Returns the reason if that cannot be done.
async fn make_candidate(target: CommitId, cx: &mut Cx<'_, v3::merger>) -> Result<Option<String>, NodeError> {
    let id = cx.entry()?.spec.id.clone();
    let message = merge_message(&id, cx.run_id());
    let (is_root, repository, at) = (cx.parent().is_none(), cx.repository()?, heads(cx).await?);
    // False if the parent was rebased meanwhile, and the message about it has not arrived yet.
    let stands_on_target = is_ancestor(repository.clone(), at.base, target).await?;
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
                candidate.cherry_pick_as_one(since, commit.id, format!("feat({id}): scaffold")).await?;
            } else {
                continue;
            }
            since = commit.id;
        }
        match since == base {
            true => candidate.squash_merge(head, message).await,
            false => candidate.cherry_pick_as_one(since, head, message).await,
        }
    };
    match made.await {
        Ok(_) => Ok(None),
        Err(error) if error.conflicts().is_some() => Ok(Some(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

impl Merger {
    /// Why the candidate is rejected: build, contract and every test are run, in this order (V3-90, V3-91).
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
        let touched = changed_paths(repository, made_on(cx)?, candidate).await?;
        let violations = of_others(&touched, &cx.entry()?.lineage);
        if !violations.is_empty() {
            return rejected(RejectionReason::ContractViolation, messages(&violations).join("\n"), Vec::new());
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
        let all = self.0.every_test(&checkout, &cx.entry()?.spec.test_path).await?;
        // Tests of the nodes above a child may still hit stubs that other nodes have to write.
        let is_fine = if cx.parent().is_none() { all.is_green() } else { all.is_free_of_failures() };
        match is_fine {
            true => Ok(None),
            false => rejected(RejectionReason::IntegrationFailure, all.details(), all.failing()),
        }
    }
}

/// The impact of a change on other nodes, as far as it can be detected in the source.
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
    let remembered = rejected.clone();
    cx.update_memory(move |memory| memory.rejection = Some(remembered.clone()));
    let input = cx.input_of::<v3::implement>()?;
    let again = ImplInput {
        merge_rejection: Some(rejected),
        attempt_count: 1,
        retry_feedback: None,
        critique_list: None,
        violations: Vec::new(),
        ..input
    };
    goto!(cx, v3::implement, again)
}
