//! The judge: approves or refuses a candidate for the parent, before the parent's branch advances (CON-32).

use super::Judge;
use super::endings::undecided;
use super::merge_queue::{give_turn_back, take_turn};
use super::review::missing_criteria;
use crate::graph::v3;
use crate::prompts::JudgePrompt;
use crate::types::outcome::V3Outcome;
use crate::types::rebase::ParentMoved;
use crate::types::tdd::{JudgeInput, JudgeRefusal, MoreTests, Reject, ReviewExit, ReviewInput};
use interlocking::agents::AgentError;
use interlocking::prelude::*;
use interlocking::workspaces::is_ancestor;

impl LLMHandler<v3::judge> for Judge {
    async fn before<'a>(&'a self, input: &'a JudgeInput, cx: &mut Cx<'_, v3::judge>) -> Ask<JudgePrompt<'a>> {
        // This node has its turn already, unless another process began this execution.
        take_turn(cx).await?;
        // CON-139, CON-33: each judgement is a new fork of the parent's session.
        let parent = cx.entry()?.lineage.session.clone();
        let slug = Slug::new("judge")?;
        let session = match parent {
            Some(parent) => SessionOp::ForkFrom { parent, slug },
            None => SessionOp::StartFresh(slug),
        };
        Ok((JudgePrompt { input }, session))
    }

    async fn after(&self, input: JudgeInput, reply: Reply<ReviewExit>, cx: &mut Cx<'_, v3::judge>) -> Route<v3::judge> {
        if has_landed(&input, cx).await? {
            return land(input, cx).await;
        }
        cx.label(&reply.output);
        let refusal = match reply.output {
            ReviewExit::Approved(approval) => {
                let missing = missing_criteria(&input.child_spec, &approval);
                if missing.is_empty() {
                    return land(input, cx).await;
                }
                JudgeRefusal {
                    reason: approval.sign_off,
                    critiques: Vec::new(),
                    additional_tests: Vec::new(),
                    missing_criteria: missing.into_iter().collect(),
                }
            }
            ReviewExit::MoreTests(MoreTests { critiques, additional_tests }) => JudgeRefusal {
                reason: "The parent's judge wants more.".to_owned(),
                critiques,
                additional_tests,
                missing_criteria: Vec::new(),
            },
            ReviewExit::Reject(Reject { reason, missing_criteria }) => {
                JudgeRefusal { reason, critiques: Vec::new(), additional_tests: Vec::new(), missing_criteria }
            }
        };
        give_turn_back(cx);
        let remembered = refusal.clone();
        cx.update_memory(move |memory| memory.refusal = Some(remembered.clone()));
        let review = ReviewInput { judgement: Some(refusal), ..cx.input_of::<v3::review>()? };
        goto!(cx, v3::review, review)
    }

    async fn unanswered(&self, input: JudgeInput, error: AgentError, cx: &mut Cx<'_, v3::judge>) -> Route<v3::judge> {
        if has_landed(&input, cx).await? {
            return land(input, cx).await;
        }
        goto!(cx, v3::exit, undecided(error, cx.attempt())?)
    }
}

/// Whether the candidate had landed before the process that approved it was killed: then the new answer comes too late.
async fn has_landed(input: &JudgeInput, cx: &Cx<'_, v3::judge>) -> Result<bool, NodeError> {
    let (_, target) = cx.target().await?;
    Ok(cx.restarts() > 0 && is_ancestor(cx.repository()?, input.merge.merge_commit, target).await?)
}

/// Advances the parent's branch to the candidate, and notifies the siblings that are still at work. If the branch has moved since
/// the candidate was made, the candidate is made again (CON-142).
async fn land(input: JudgeInput, cx: &mut Cx<'_, v3::judge>) -> Route<v3::judge> {
    match cx.land(input.merge.merge_commit).await {
        Ok(_) => {}
        Err(error) if error.has_moved() => {
            cx.note("the parent's branch has moved meanwhile: the candidate is made again");
            return goto!(cx, v3::merger, cx.input_of::<v3::merger>()?);
        }
        Err(error) => return Err(error.into()),
    }
    let (branch, _) = cx.target().await?;
    let moved = ParentMoved {
        parent_branch: branch.to_string(),
        new_parent_head: input.merge.merge_commit,
        merge_event: (&input.merge).into(),
    };
    for sibling in cx.siblings().await? {
        cx.send::<v3::rebaser>(&sibling, &moved)?;
    }
    goto!(cx, v3::exit, V3Outcome::Merged(input.merge))
}
