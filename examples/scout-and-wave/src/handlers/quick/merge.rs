//! Merges the work of quick mode: the run ends at the first conflict.

use super::{QuickMerge, stopped};
use crate::graph::scout_and_wave;
use crate::handlers::staging::STAGING;
use crate::protocol::quick::label;
use crate::quick::{QuickExecuted, QuickMerged, QuickStop};
use interlocking::prelude::*;

impl LogicHandler<scout_and_wave::quick_merge> for QuickMerge {
    async fn run(
        &self,
        QuickExecuted { launch, done }: QuickExecuted,
        cx: &mut Cx<'_, scout_and_wave::quick_merge>,
    ) -> Route<scout_and_wave::quick_merge> {
        let mut commit = launch.base;
        let mut staging = cx.worktree_of(STAGING).await?;
        staging.reset(launch.base).await?;
        for (label, head) in done.iter().filter_map(|done| Some((label(&done.agent), done.commit?))) {
            commit = match staging.merge(head, format!("Merge {label}")).await {
                Ok(commit) => commit,
                Err(error) if error.conflicts().is_some() => {
                    let problem = format!("{label} cannot be merged: {error}");
                    return goto!(cx, scout_and_wave::exit, stopped(QuickStop::Conflict, [problem]));
                }
                Err(error) => return Err(error.into()),
            };
        }
        drop(staging);
        cx.retire_child_workspaces::<scout_and_wave::quick>().await?;
        let agents = done.into_iter().map(|done| done.agent).collect();
        goto!(cx, scout_and_wave::quick_verify, QuickMerged { agents, gate: launch.gate, commit })
    }
}
