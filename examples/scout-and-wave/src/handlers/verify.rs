//! Runs the gate on the whole project.

use super::{Verify, go_to};
use crate::document::Impl;
use crate::graph::{Blocked, Merged, scout_and_wave};
use crate::protocol::state::{BlockReason, State};
use crate::workbench::text_at;
use interlocking::prelude::*;

impl LogicHandler<scout_and_wave::verify> for Verify {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::verify>) -> Route<scout_and_wave::verify> {
        let file = cx.entry()?.document()?.clone();
        let text = text_at(cx.repository()?, merged.commit, &file).await?.ok_or("the document is not there")?;
        let gate = Impl::read(file.as_str(), &text)?.waves.gate;
        let checkout = cx.fresh_checkout(merged.commit).await?;
        match self.0.gate(&gate, checkout.path()).await? {
            Ok(()) => goto!(cx, scout_and_wave::verified, merged),
            Err(failure) => {
                // That the gate failed before is known.
                if cx.memory().state != State::Blocked(BlockReason::Verification) {
                    go_to(cx, State::Blocked(BlockReason::Verification))?;
                }
                let (wave, problems) = (merged.wave, vec![failure.to_string()]);
                let (reason, merged) = (BlockReason::Verification, Some(merged));
                let blocked = Blocked { wave, reason, problems, executed: None, merged };
                goto!(cx, scout_and_wave::blocked_verify, blocked)
            }
        }
    }
}
