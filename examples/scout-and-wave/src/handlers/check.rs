//! A verdict, and nothing else: no document, no branch, no commit (SAW-19).

use super::{Check, go_to};
use crate::graph::{SawResult, scout_and_wave};
use crate::prompts::ScoutPrompt;
use crate::protocol::plan::Plan;
use crate::protocol::state::State;
use crate::protocol::suitability::judge;
use crate::request::Brief;
use crate::workbench::files_at;
use interlocking::prelude::*;

impl LLMHandler<scout_and_wave::check> for Check {
    async fn before<'a>(&'a self, brief: &'a Brief, _: &mut Cx<'_, scout_and_wave::check>) -> Ask<ScoutPrompt<'a>> {
        Ok((ScoutPrompt { brief, commands: self.0.commands() }, SessionOp::StartFresh(Slug::new("scout")?)))
    }

    async fn after(
        &self,
        _: Brief,
        reply: Reply<Plan>,
        cx: &mut Cx<'_, scout_and_wave::check>,
    ) -> Route<scout_and_wave::check> {
        let (_, at) = cx.target().await?;
        let mut plan = reply.output;
        plan.gate = self.0.gate_of(&plan.gate);
        let suitability = judge(&plan, &files_at(cx.repository()?, at).await?);
        go_to(cx, State::Idle)?;
        goto!(cx, scout_and_wave::exit, SawResult::Checked { suitability })
    }
}
