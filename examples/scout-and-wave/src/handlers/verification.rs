//! The gate on the whole project, and what comes after it.

use super::merging::text_of;
use super::{STAGING, Verified, Verify, go_to};
use crate::document::{self, Impl, Status};
use crate::graph::{Blocked, Merged, Next, SawResult, scout_and_wave};
use crate::protocol::state::{BlockReason, State};
use crate::workbench::text_at;
use interlocking::prelude::*;

impl LogicHandler<scout_and_wave::verify> for Verify {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::verify>) -> Route<scout_and_wave::verify> {
        let file = cx.entry()?.document.clone();
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

impl LogicHandler<scout_and_wave::verified> for Verified {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::verified>) -> Route<scout_and_wave::verified> {
        let file = cx.entry()?.document.clone();
        go_to(cx, State::WaveVerified)?;
        let mut staging = cx.worktree_of(STAGING).await?;
        let text = text_of(&staging, &file).await?;
        let waves = Impl::read(file.as_str(), &text)?.wave_count();
        let is_last = merged.wave >= waves;
        let state = if is_last { State::Complete } else { State::WavePending };
        let status = Status {
            state,
            waves_verified: merged.wave,
            contracts: Some(merged.contracts_hash),
            verified_at: Some(merged.commit),
        };
        let text = document::with_status(file.as_str(), &text, &status)?;
        staging.write_file(&file.in_repository()?, text).await?;
        let committed = staging.commit(format!("docs: wave {} is verified", merged.wave)).await?;
        // SAW-109: the target moves once a wave.
        let commit = cx.land(committed.unwrap_or(merged.commit)).await?;
        go_to(cx, state)?;
        match is_last {
            true => goto!(cx, scout_and_wave::exit, SawResult::Complete { waves, commit }),
            false => goto!(cx, scout_and_wave::pending, Next { wave: merged.wave + 1 }),
        }
    }
}
