//! Runs the gate on the merge of quick mode, and lands it if the gate passes.

use super::stopped;
use crate::graph::{SawResult, scout_and_wave};
use crate::handlers::Verify;
use crate::quick::{QuickMerged, QuickStop};
use interlocking::prelude::*;

impl LogicHandler<scout_and_wave::quick_verify> for Verify {
    async fn run(
        &self,
        merged: QuickMerged,
        cx: &mut Cx<'_, scout_and_wave::quick_verify>,
    ) -> Route<scout_and_wave::quick_verify> {
        let QuickMerged { agents, gate, commit } = merged;
        let checkout = cx.fresh_checkout(commit).await?;
        match self.0.gate(&gate, checkout.path()).await? {
            Ok(()) => {
                let commit = cx.land(commit).await?;
                goto!(cx, scout_and_wave::exit, SawResult::QuickComplete { agents, commit })
            }
            Err(failure) => {
                goto!(cx, scout_and_wave::exit, stopped(QuickStop::Verification, [failure.to_string()]))
            }
        }
    }
}
