//! From the task to an approved document.

use super::{Review, STAGING, Scout, Suit, go_to};
use crate::document;
use crate::graph::{Next, Request, ReviewAnswer, ReviewQuestion, SawResult, scout_and_wave};
use crate::prompts::ScoutPrompt;
use crate::protocol::plan::Plan;
use crate::protocol::state::State;
use crate::protocol::suitability::{Verdict, judge};
use crate::workbench::files_at;
use interlocking::prelude::*;

impl LLMHandler<scout_and_wave::scout> for Scout {
    async fn before<'a>(
        &'a self,
        request: &'a Request,
        cx: &mut Cx<'_, scout_and_wave::scout>,
    ) -> Ask<ScoutPrompt<'a>> {
        go_to(cx, State::Scouting)?;
        Ok((ScoutPrompt { request }, SessionOp::StartFresh(Slug::new("scout")?)))
    }

    async fn after(
        &self,
        _: Request,
        reply: Reply<Plan>,
        cx: &mut Cx<'_, scout_and_wave::scout>,
    ) -> Route<scout_and_wave::scout> {
        goto!(cx, scout_and_wave::suit, reply.output)
    }
}

impl LogicHandler<scout_and_wave::suit> for Suit {
    async fn run(&self, plan: Plan, cx: &mut Cx<'_, scout_and_wave::suit>) -> Route<scout_and_wave::suit> {
        let document = cx.entry()?.document.clone();
        let (_, at) = cx.target().await?;
        let files = files_at(cx.repository()?, at).await?;
        if files.contains(document.as_str()) {
            return Err(format!("there is a document `{document}` already: name another one, or remove it").into());
        }
        let suitability = judge(&plan, &files);
        let is_suitable = suitability.verdict != Verdict::NotSuitable;
        let text = match is_suitable {
            true => document::planned(&plan, &suitability)?,
            false => document::not_suitable(&plan, &suitability)?,
        };
        let mut staging = cx.worktree_of(STAGING).await?;
        staging.reset(at).await?;
        staging.write_file(&document.in_repository()?, text).await?;
        let commit =
            staging.commit(format!("docs: plan {}", plan.title)).await?.ok_or("the document is not committed")?;
        cx.land(commit).await?;
        if !is_suitable {
            go_to(cx, State::NotSuitable)?;
            return goto!(cx, scout_and_wave::exit, SawResult::NotSuitable { failed: suitability.failed });
        }
        go_to(cx, State::Reviewed)?;
        goto!(cx, scout_and_wave::review, ReviewQuestion { document, suitability })
    }
}

impl HumanHandler<scout_and_wave::review> for Review {
    async fn ask(
        &self,
        question: &ReviewQuestion,
        _: &mut Cx<'_, scout_and_wave::review>,
    ) -> Result<ReviewQuestion, NodeError> {
        Ok(question.clone())
    }

    async fn answered(
        &self,
        question: ReviewQuestion,
        answer: ReviewAnswer,
        cx: &mut Cx<'_, scout_and_wave::review>,
    ) -> Route<scout_and_wave::review> {
        let caveats = &question.suitability.caveats;
        match answer {
            ReviewAnswer::Approve { acknowledge_caveats } if acknowledge_caveats || caveats.is_empty() => {
                go_to(cx, State::WavePending)?;
                goto!(cx, scout_and_wave::pending, Next { wave: 1 })
            }
            // CON-108: nobody has approved who does not know what there is to know.
            ReviewAnswer::Approve { .. } => {
                let reason = format!("the caveats were not acknowledged: {}", caveats.join("; "));
                goto!(cx, scout_and_wave::exit, SawResult::Declined { reason })
            }
            ReviewAnswer::Decline { reason } => goto!(cx, scout_and_wave::exit, SawResult::Declined { reason }),
        }
    }
}
