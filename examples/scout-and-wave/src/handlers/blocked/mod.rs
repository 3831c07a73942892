//! A wave that cannot go on without a person (SAW-33, SAW-43, SAW-45, CON-97).

mod agent;
mod contract;
mod verify;

use super::staging::STAGING;
use crate::graph::{Blocked, BlockedQuestion, SawResult, scout_and_wave};
use interlocking::graph::{Edge, Node};
use interlocking::prelude::*;

async fn question<N: Node>(blocked: &Blocked, ways: &[&str], cx: &mut Cx<'_, N>) -> Result<BlockedQuestion, NodeError> {
    let Blocked { wave, reason, problems, .. } = blocked.clone();
    let staging = cx.worktree_of(STAGING).await?.path().display().to_string();
    let ways = ways.iter().map(|way| (*way).to_owned()).collect();
    Ok(BlockedQuestion { wave, reason, problems, staging, ways })
}

/// Ends the run, because a person wants that.
fn stop<N>(blocked: Blocked, cx: &Cx<'_, N>) -> Route<N>
where
    N: Node + Edge<scout_and_wave::exit, To = scout_and_wave::exit>,
{
    let Blocked { wave, reason, problems, .. } = blocked;
    cx.goto::<scout_and_wave::exit>(SawResult::Stopped { wave, reason, problems })
}
