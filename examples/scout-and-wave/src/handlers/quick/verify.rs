//! Runs the gate on the merge of quick mode, with others' commits on the target branch in the meantime, and lands it if
//! the gate passes.

use super::stopped;
use crate::graph::{SawResult, scout_and_wave};
use crate::handlers::Verify;
use crate::handlers::staging::STAGING;
use crate::quick::{QuickMerged, QuickStop};
use interlocking::prelude::*;
use interlocking::workspaces::diverged;

impl LogicHandler<scout_and_wave::quick_verify> for Verify {
    async fn run(
        &self,
        merged: QuickMerged,
        cx: &mut Cx<'_, scout_and_wave::quick_verify>,
    ) -> Route<scout_and_wave::quick_verify> {
        let QuickMerged { agents, gate, mut commit } = merged;
        let mut is_verified = false;
        loop {
            let (target, at) = cx.target().await?;
            if diverged(cx.repository()?, at, commit).await? {
                // What lands must be what was verified.
                is_verified = false;
                let both = cx.worktree_of(STAGING).await?.merge(at, format!("Merge {target}")).await;
                commit = match both {
                    Ok(commit) => commit,
                    Err(error) if error.conflicts().is_some() => {
                        let problem = format!(
                            "`{target}` has moved to {at} since the agents began, and the two do not go together: {error}"
                        );
                        return goto!(cx, scout_and_wave::exit, stopped(QuickStop::Conflict, [problem]));
                    }
                    Err(error) => return Err(error.into()),
                };
            }
            if is_verified {
                let commit = cx.land(commit).await?;
                return goto!(cx, scout_and_wave::exit, SawResult::QuickComplete { agents, commit });
            }
            let checkout = cx.fresh_checkout(commit).await?;
            if let Err(failure) = self.0.gate(&gate, checkout.path()).await? {
                return goto!(cx, scout_and_wave::exit, stopped(QuickStop::Verification, [failure.to_string()]));
            }
            is_verified = true;
        }
    }
}
