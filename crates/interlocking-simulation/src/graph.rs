//! A graph that interprets any table at run time, with the node kinds that derived graphs have.
//!
//! A derived graph knows its table when it is compiled. This one finds it where its thread keeps it, and has one marker for
//! each position in a table in place of one for each name.

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

/// A graph whose table is that of its thread's seed: the run at level 0, children at level 1.
pub(crate) struct Simulated<const LEVEL: usize> {
    pub(crate) world: Arc<World>,
}

/// What a run ends with: what came to its exit, and what was reported there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Output {
    pub(crate) number: u64,
    pub(crate) reports: Vec<Told>,
}

/// One report: the node, its visit, and the number or what sort of failure there was in its place.
pub(crate) type Told = (String, u32, Result<u64, FailureKind>);

/// What nodes remember, and observers report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum(pub(crate) u64);

/// The net of this thread's graph at `level`.
pub(crate) fn net(level: usize) -> &'static Net {
    NETS.get()[level].expect("the thread has set its nets")
}
