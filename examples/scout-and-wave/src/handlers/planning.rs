//! From the task to an approved document.

use super::staging::STAGING;
use super::{Review, Scout, Suit, go_to};
use crate::document::{self, Impl};
use crate::graph::{Draft, Next, ReviewAnswer, ReviewQuestion, SawResult, scout_and_wave};
use crate::prompts::ScoutPrompt;
use crate::protocol::bootstrap::TYPES_WAVE;
use crate::protocol::plan::Plan;
use crate::protocol::state::State;
use crate::protocol::suitability::{Verdict, judge};
use crate::request::{Brief, Proposal, Request};
use crate::workbench::files_at;
use interlocking::prelude::*;
use interlocking::workspaces::text_at;

impl LLMHandler<scout_and_wave::scout> for Scout {
    async fn before<'a>(&'a self, brief: &'a Brief, _: &mut Cx<'_, scout_and_wave::scout>) -> Ask<ScoutPrompt<'a>> {
        Ok((ScoutPrompt { brief, commands: self.0.commands() }, SessionOp::StartFresh(Slug::new("scout")?)))
    }

    async fn after(
        &self,
        brief: Brief,
        reply: Reply<Plan>,
        cx: &mut Cx<'_, scout_and_wave::scout>,
    ) -> Route<scout_and_wave::scout> {
        goto!(cx, scout_and_wave::suit, Proposal { plan: reply.output, architecture: None, brief })
    }
}

impl LogicHandler<scout_and_wave::suit> for Suit {
    async fn run(&self, proposal: Proposal, cx: &mut Cx<'_, scout_and_wave::suit>) -> Route<scout_and_wave::suit> {
        let Proposal { mut plan, architecture, brief } = proposal;
        plan.gate = self.0.gate_of(&plan.gate);
        let document = cx.entry()?.document()?.clone();
        let (_, at) = cx.target().await?;
        let mut files = files_at(cx.repository()?, at).await?;
        files.remove(document.as_str());
        let suitability = judge(&plan, &files);
        let is_suitable = suitability.verdict != Verdict::NotSuitable;
        let text = match is_suitable {
            true => document::planned(&plan, architecture.as_ref(), &suitability)?,
            false => document::not_suitable(&plan, &suitability)?,
        };
        if is_suitable {
            // A scout's text must not break the document.
            Impl::read(document.as_str(), &text)?;
        }
        // SAW-105: the same text is what this node has landed, in an execution that was killed or failed after that.
        let landed = text_at(cx.repository()?, at, &document).await?;
        if brief.remarks.is_empty() && landed.is_some_and(|landed| landed != text) {
            return Err(format!(
                "there is a document `{document}` now that is not this run's: remove it, then resume the run with \
                 --retry, which keeps the plan"
            )
            .into());
        }
        let mut staging = cx.worktree_of(STAGING).await?;
        staging.reset(at).await?;
        staging.write_file(document.in_repository(), text).await?;
        if let Some(commit) = staging.commit(format!("docs: plan {}", plan.title)).await? {
            cx.land(commit).await?;
        }
        if !is_suitable {
            go_to(cx, State::NotSuitable)?;
            return goto!(cx, scout_and_wave::exit, SawResult::NotSuitable { failed: suitability.failed });
        }
        go_to(cx, State::Reviewed)?;
        if matches!(cx.entry()?, Request::Scout { .. }) {
            return goto!(cx, scout_and_wave::exit, SawResult::Reviewed { document, suitability });
        }
        // No agent is launched before a person has approved. The files of the agents' worktrees are written in the meantime.
        if let Some(agents) = plan.waves.iter().map(|wave| wave.agents.len()).max().filter(|&agents| agents > 1) {
            cx.prepare_worktrees(agents, cx.target().await?.1).await?;
        }
        let question = ReviewQuestion::new(document, suitability);
        goto!(cx, scout_and_wave::review, Draft { question, brief, first_wave: plan.first_wave })
    }
}

impl HumanHandler<scout_and_wave::review> for Review {
    async fn ask(&self, draft: &Draft, _: &mut Cx<'_, scout_and_wave::review>) -> Result<ReviewQuestion, NodeError> {
        Ok(draft.question.clone())
    }

    async fn answered(
        &self,
        draft: Draft,
        answer: ReviewAnswer,
        cx: &mut Cx<'_, scout_and_wave::review>,
    ) -> Route<scout_and_wave::review> {
        let caveats = &draft.question.suitability.caveats;
        match answer {
            ReviewAnswer::Approve { acknowledge_caveats } if acknowledge_caveats || caveats.is_empty() => {
                go_to(cx, State::WavePending)?;
                goto!(cx, scout_and_wave::pending, Next::wave(draft.first_wave))
            }
            // CON-108: an approval without knowledge of the caveats does not count.
            ReviewAnswer::Approve { .. } => {
                let caveats = caveats.join("; ");
                let reason = format!(
                    "the caveats were not acknowledged: {caveats}. `wave` goes on with the document, and asks again"
                );
                goto!(cx, scout_and_wave::exit, SawResult::Declined { reason })
            }
            ReviewAnswer::Replan { remarks } => {
                go_to(cx, State::Scouting)?;
                let mut brief = draft.brief;
                brief.remarks.push(remarks);
                match draft.first_wave {
                    TYPES_WAVE => goto!(cx, scout_and_wave::architect, brief),
                    _ => goto!(cx, scout_and_wave::scout, brief),
                }
            }
            ReviewAnswer::Decline { reason } => goto!(cx, scout_and_wave::exit, SawResult::Declined { reason }),
        }
    }
}
