//! Whether quick mode is suitable for a declaration: its only guarantee is checked before any agent is launched.

use super::{QuickCheck, stopped};
use crate::graph::scout_and_wave;
use crate::handlers::staging::STAGING;
use crate::protocol::quick::QuickPlan;
use crate::quick::{QuickAssignment, QuickLaunch, QuickStop};
use crate::workbench::refuse_changes;
use interlocking::prelude::*;

impl LogicHandler<scout_and_wave::quick_check> for QuickCheck {
    async fn run(
        &self,
        plan: QuickPlan,
        cx: &mut Cx<'_, scout_and_wave::quick_check>,
    ) -> Route<scout_and_wave::quick_check> {
        let problems = plan.problems();
        if !problems.is_empty() {
            let result = stopped(QuickStop::Refused, problems.iter().map(ToString::to_string));
            return goto!(cx, scout_and_wave::exit, result);
        }
        refuse_changes(cx.repository()?, "quick mode").await?;
        let (_, base) = cx.target().await?;
        cx.worktree_of(STAGING).await?.reset(base).await?;
        let agents = plan.lettered().map(|(agent, told)| QuickAssignment { agent, told: told.clone() }).collect();
        goto!(cx, scout_and_wave::quick, QuickLaunch { base, agents, gate: plan.gate })
    }
}
