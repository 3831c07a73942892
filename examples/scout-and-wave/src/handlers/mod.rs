//! What the nodes do, in the order of a run.

mod staging;
mod command;
mod check;
mod architect;
mod planning;
mod recover;
mod pending;
mod solo;
mod wave_worktrees;
mod agents;
mod wait_for_worktrees;
mod implement;
mod reports;
mod predict;
mod merge;
mod append;
mod verify;
mod verified;
mod blocked;
mod quick;

pub use quick::{Quick, QuickCheck, QuickMerge, QuickWork};
pub use wave_worktrees::{MissingWorktree, WaveWorktrees};

use crate::graph::{Blocked, Executed, Progress, ScoutAndWave};
use crate::protocol::state::{BlockReason, State};
use crate::workbench::Workbench;
use interlocking::graph::{Node, Remembers};
use interlocking::prelude::*;
use std::fmt::Display;
use std::sync::{Arc, Mutex};

/// Handler of `command`.
pub struct Command;

/// Handler of `check`.
pub struct Check(pub Arc<Workbench>);

/// Handler of `architect`.
pub struct Architect(pub Arc<Workbench>);

/// Handler of `scout`.
pub struct Scout(pub Arc<Workbench>);

/// Handler of `suit`.
pub struct Suit(pub Arc<Workbench>);

/// Handler of `review`.
pub struct Review;

/// Handler of `recover`.
pub struct Recover;

/// Handler of `pending`.
pub struct Pending(pub Arc<Workbench>);

/// Handler of `solo`.
pub struct Solo;

/// Handler of `solo_failed`.
pub struct SoloFailed;

/// Handler of `agents`: holds the state by which the agents of its execution wait for each other.
#[derive(Default)]
pub struct Agents(Mutex<Arc<WaveWorktrees>>);

/// Handler of `wait_for_worktrees`.
pub struct WaitForWorktrees(pub(crate) Arc<WaveWorktrees>);

/// Handler of `implement`.
pub struct Implement(pub(crate) Arc<WaveWorktrees>);

/// Handler of `predict`.
pub struct Predict;

/// Handler of `merge`.
pub struct Merge;

/// Handler of `append`.
pub struct Append;

/// Handler of `verify` and `quick_verify`.
pub struct Verify(pub Arc<Workbench>);

/// Handler of `verified`.
pub struct Verified;

/// Handler of `blocked_agent`.
pub struct BlockedAgent;

/// Handler of `blocked_contract`.
pub struct BlockedContract;

/// Handler of `blocked_verify`.
pub struct BlockedVerify;

/// Records that the run goes on to a state, if the protocol has that transition (SAW-34).
fn go_to<N>(cx: &mut Cx<'_, N>, to: State) -> Result<(), NodeError>
where
    N: Node<Graph = ScoutAndWave> + Remembers<Memory = Progress>,
{
    let mut now = cx.memory().state;
    now.go_to(to)?;
    cx.update_memory(move |progress| progress.state = now);
    cx.note(to.to_string());
    Ok(())
}

/// Records that the run is blocked, and why.
fn blocked<N>(
    cx: &mut Cx<'_, N>,
    wave: u32,
    reason: BlockReason,
    problems: &[impl Display],
    executed: Option<Executed>,
) -> Result<Blocked, NodeError>
where
    N: Node<Graph = ScoutAndWave> + Remembers<Memory = Progress>,
{
    go_to(cx, State::Blocked(reason))?;
    let problems = problems.iter().map(ToString::to_string).collect();
    Ok(Blocked { wave, reason, problems, executed, merged: None })
}
