//! The scout of an empty project (SAW-95).

use super::Architect;
use crate::graph::scout_and_wave;
use crate::prompts::ArchitectPrompt;
use crate::protocol::bootstrap::BootstrapPlan;
use crate::request::{Brief, Proposal};
use interlocking::prelude::*;

impl LLMHandler<scout_and_wave::architect> for Architect {
    async fn before<'a>(
        &'a self,
        brief: &'a Brief,
        _: &mut Cx<'_, scout_and_wave::architect>,
    ) -> Ask<ArchitectPrompt<'a>> {
        Ok((ArchitectPrompt { brief, commands: self.0.commands() }, SessionOp::StartFresh(Slug::new("architect")?)))
    }

    async fn after(
        &self,
        brief: Brief,
        reply: Reply<BootstrapPlan>,
        cx: &mut Cx<'_, scout_and_wave::architect>,
    ) -> Route<scout_and_wave::architect> {
        let (plan, architecture) = reply.output.into_parts();
        goto!(cx, scout_and_wave::suit, Proposal { plan, architecture: Some(architecture), brief })
    }
}
