//! Scaffold: signatures, contract, plan, and children.

use super::Scaffold;
use super::claims::{committed, discard, forbidden, messages};
use super::endings::{still_wrong, undecided};
use super::places::{BASE, Heads, IMPL, SKELETON, TESTS, before_own_work, heads};
use super::rebase::{Moved, onto};
use crate::checks::{Violation, plan};
use crate::graph::v3;
use crate::memory::session_of;
use crate::prompts::ScaffoldPrompt;
use crate::types::outcome::V3Outcome;
use crate::types::scaffold::{Clarification, ForkInput, InitWork, ScaffoldExit, ScaffoldInput};
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::workspaces::{in_repository, is_ancestor};
use interlocking::worktree::CommitId;

impl LLMHandler<v3::scaffold> for Scaffold {
    async fn before<'a>(&'a self, input: &'a ScaffoldInput, cx: &mut Cx<'_, v3::scaffold>) -> Ask<ScaffoldPrompt<'a>> {
        input.spec.check()?;
        // An observer sees only runs: this note links the run to its node of the tree.
        cx.note(format!("plans {}", input.spec.id));
        let memory = cx.memory();
        let conflicts = memory.conflicts.into_iter().filter(|conflict| input.clarification.as_ref() != Some(conflict));
        let clarifications: Vec<_> = input.clarification.iter().cloned().chain(conflicts).collect();
        start_over(input, &clarifications, cx).await?;
        let own = memory.session;
        let thread = own.as_ref().map(|session| (session, IMPL));
        let session = session_of(thread, IMPL, input.lineage.session.as_ref(), "scaffold")?;
        Ok((ScaffoldPrompt { input, clarifications, may_split: may_split(cx) }, session))
    }

    async fn after(
        &self,
        input: ScaffoldInput,
        reply: Reply<ScaffoldExit>,
        cx: &mut Cx<'_, v3::scaffold>,
    ) -> Route<v3::scaffold> {
        let session = reply.session.clone();
        cx.update_memory(move |memory| memory.session = Some(session.clone()));
        cx.label(&reply.output);
        let violations = match reply.output {
            ScaffoldExit::ClarificationNeeded(needed) => {
                let violations = plan::question_violations(&input.spec, &needed);
                if violations.is_empty() {
                    return goto!(cx, v3::exit, V3Outcome::ClarificationNeeded(needed));
                }
                discard(&mut cx.worktree().await?).await?;
                violations
            }
            ScaffoldExit::InitWork(work) => {
                let violations = self.violations(&input, &work, cx).await?;
                if violations.is_empty() {
                    for place in [SKELETON, TESTS] {
                        cx.worktree_of(place).await?.reset(work.scaffold_commit).await?;
                    }
                    cx.update_memory(|memory| {
                        memory.awaits_fork = true;
                        memory.conflicts.clear();
                        memory.forget_candidate();
                    });
                    return goto!(cx, v3::fork, ForkInput { spec: input.spec, work, session: reply.session });
                }
                violations
            }
        };
        if cx.is_final_attempt() {
            return goto!(cx, v3::exit, still_wrong("scaffold", &violations, cx.attempt()));
        }
        goto!(cx, self, ScaffoldInput { violations: messages(&violations), ..input })
    }

    async fn unanswered(
        &self,
        _: ScaffoldInput,
        error: AgentError,
        cx: &mut Cx<'_, v3::scaffold>,
    ) -> Route<v3::scaffold> {
        goto!(cx, v3::exit, undecided(error, cx.attempt())?)
    }
}

impl Scaffold {
    /// The violations of a scaffold. If there are any, its commits are reset.
    async fn violations(
        &self,
        input: &ScaffoldInput,
        work: &InitWork,
        cx: &mut Cx<'_, v3::scaffold>,
    ) -> Result<Vec<Violation>, NodeError> {
        // An agent that is asked again may find that nothing has to change.
        let may_be_none =
            input.clarification.is_some() || !cx.memory().conflicts.is_empty() || input.lineage.sent_back.is_some();
        let repository = cx.repository()?;
        let mut tree = cx.worktree().await?;
        let claim = committed(&mut tree, work.scaffold_commit, may_be_none).await?;
        let mut violations = claim.violations;
        violations.extend(plan::violations(&input.spec, &input.lineage, work));
        if !work.children().is_empty() && !may_split(cx) {
            violations.push(Violation::TooDeep { limit: cx.depth_limit::<v3::children>().unwrap_or_default() });
        }
        violations.extend(forbidden(&self.0, (claim.before, claim.tip), cx).await?);
        let mut files = work.interface_files();
        files.push(work.contract_suite.clone());
        let tip = claim.tip;
        let missing = in_repository(repository, move |repository| {
            let mut missing = Vec::new();
            for path in files {
                if repository.read_file(tip, path.in_repository())?.is_none() {
                    missing.push(Violation::NoSuchFile { path });
                }
            }
            Ok(missing)
        });
        violations.extend(missing.await?);
        if violations.is_empty() {
            violations.extend(self.build_violations(claim.tip, cx).await?);
        }
        if !violations.is_empty() {
            cx.worktree().await?.reset(claim.before).await?;
        }
        Ok(violations)
    }

    async fn build_violations(
        &self,
        commit: CommitId,
        cx: &Cx<'_, v3::scaffold>,
    ) -> Result<Option<Violation>, NodeError> {
        let built = self.0.build(&cx.fresh_checkout(commit).await?).await?;
        Ok((!built.passed()).then(|| Violation::DoesNotBuild { diagnostics: built.diagnostics().to_owned() }))
    }
}

/// Whether children of this node are within the tree's depth limit (V3-161).
fn may_split(cx: &Cx<'_, v3::scaffold>) -> bool {
    cx.depth_limit::<v3::children>().is_none_or(|limit| cx.depth() < limit)
}

/// Resets discarded work: the changes of an earlier attempt, and the tests and the implementation for an earlier scaffold.
/// Commits that children have merged stay (CON-11).
async fn start_over(
    input: &ScaffoldInput,
    clarifications: &[Clarification],
    cx: &mut Cx<'_, v3::scaffold>,
) -> Result<(), NodeError> {
    let head = cx.worktree().await?.head();
    if cx.visit() == 1 {
        if cx.attempt() == 1 {
            cx.worktree_of(BASE).await?.reset(head).await?;
        }
        cx.worktree().await?.reset(head).await?;
        return Ok(());
    }
    let from = heads(cx).await?;
    let kept = before_own_work(cx.repository()?, &input.spec.id, from.skeleton, from.head).await?;
    cx.worktree().await?.reset(kept).await?;
    let (_, target) = cx.target().await?;
    let is_behind = !is_ancestor(cx.repository()?, target, from.base).await?;
    let does_not_fit = |why: &Clarification| matches!(why, Clarification::RebaseConflict { .. });
    if is_behind && clarifications.iter().any(does_not_fit) {
        move_to(target, Heads { tests: from.skeleton, head: kept, ..from }, cx).await?;
    }
    Ok(())
}

/// Moves a scaffold that could not be rebased as it was to the new head of the parent's branch, to be made again there: on what
/// is left of it, or else on nothing. If commits that children have merged do not fit either, it stays where it was.
async fn move_to(target: CommitId, from: Heads, cx: &mut Cx<'_, v3::scaffold>) -> Result<(), NodeError> {
    cx.worktree_of(TESTS).await?.reset(from.tests).await?;
    let refused = matches!(onto(cx, from, target).await?, Moved::Refused { .. });
    if refused && from.head == from.skeleton {
        for place in [IMPL, TESTS, SKELETON, BASE] {
            cx.worktree_of(place).await?.reset(target).await?;
        }
    }
    Ok(())
}
