//! A graph that interprets any table at run time, with the node kinds that derived graphs have.
//!
//! A derived graph knows its table at compile time. This graph reads its table from a thread-local variable, and has
//! one marker for each position in a table instead of one for each node name.

use crate::world::World;
use interlocking_core::failure::FailureKind;
use interlocking_core::net::Net;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// The nets of this thread's seed, by level.
    static NETS: Cell<[Option<&'static Net>; 2]> = const { Cell::new([None; 2]) };
}

/// Makes these the nets of the graphs that this thread runs.
pub(crate) fn set_nets(nets: [&'static Net; 2]) {
    NETS.set(nets.map(Some));
}

/// A graph with the table of its thread's seed: the run at level 0, children at level 1.
pub(crate) struct Simulated<const LEVEL: usize> {
    pub(crate) world: Arc<World>,
}

/// The output of a run: the number that reached the exit, and the reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Output {
    pub(crate) number: u64,
    pub(crate) reports: Vec<Told>,
}

/// One report: the node, its visit, and the number or the sort of failure.
pub(crate) type Told = (String, u32, Result<u64, FailureKind>);

/// The memory of nodes, and the report of observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum(pub(crate) u64);

/// The net of this thread's graph at `level`.
pub(crate) fn net(level: usize) -> &'static Net {
    NETS.get()[level].expect("the thread has set its nets")
}
