//! What the nodes do, in the order of a run.

mod planning;
mod launch;
mod muster;
mod agents;
mod merging;
mod verification;

pub use muster::Muster;

use crate::graph::{Progress, SawResult, ScoutAndWave, scout_and_wave};
use crate::protocol::state::{BlockReason, State};
use crate::workbench::Workbench;
use interlocking::graph::{Edge, Node, Remembers};
use interlocking::prelude::*;
use std::fmt::Display;
use std::sync::{Arc, Mutex};

/// Handler of `scout`.
pub struct Scout;

/// Handler of `suit`.
pub struct Suit;

/// Handler of `review`.
pub struct Review;

/// Handler of `pending`.
pub struct Pending;

/// Handler of `agents`: the place where the agents of its execution come together.
#[derive(Default)]
pub struct Agents(Mutex<Arc<Muster>>);

/// Handler of `arrive`.
pub struct Arrive(pub(crate) Arc<Muster>);

/// Handler of `implement`.
pub struct Implement(pub(crate) Arc<Muster>);

/// Handler of `predict`.
pub struct Predict;

/// Handler of `merge`.
pub struct Merge;

/// Handler of `append`.
pub struct Append;

/// Handler of `verify`.
pub struct Verify(pub Arc<Workbench>);

/// Handler of `verified`.
pub struct Verified;

/// The workspace that the orchestrator alone works in: the document is written there, and waves are merged there.
const STAGING: &str = "staging";

/// The longest file that the orchestrator reads, in bytes.
const LONGEST: u64 = 16 << 20;

/// A node of this graph that may end the run.
trait Ends:
    Node<Graph = ScoutAndWave> + Remembers<Memory = Progress> + Edge<scout_and_wave::exit, To = scout_and_wave::exit>
{
}

impl<N> Ends for N where
    N: Node<Graph = ScoutAndWave>
        + Remembers<Memory = Progress>
        + Edge<scout_and_wave::exit, To = scout_and_wave::exit>
{
}

/// Notes that the run goes on to a state, if the protocol has a way there (SAW-34).
fn go_to<N>(cx: &mut Cx<'_, N>, to: State) -> Result<(), NodeError>
where
    N: Node<Graph = ScoutAndWave> + Remembers<Memory = Progress>,
{
    let mut now = cx.memory();
    now.state.go_to(to)?;
    cx.update_memory(move |progress| *progress = now);
    cx.note(to.to_string());
    Ok(())
}

/// Ends the run where a wave cannot go on as it is.
fn blocked<N: Ends>(cx: &mut Cx<'_, N>, wave: u32, reason: BlockReason, problems: &[impl Display]) -> Route<N> {
    go_to(cx, State::Blocked(reason))?;
    let problems = problems.iter().map(ToString::to_string).collect();
    cx.goto::<scout_and_wave::exit>(SawResult::Blocked { wave, reason, problems })
}
