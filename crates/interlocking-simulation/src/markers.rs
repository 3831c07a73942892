//! One marker for each position in a table, instead of one for each node name.

use crate::graph::{Simulated, Sum};
use crate::token::Token;
use interlocking_core::graph::{
    Asks, Edge, Handled, Judged, Maps, Node, Place, Remembers, Reports, Resumes, Runs, RunsChildren, Spawns,
};
use interlocking_core::net::{AlternativeIndex, NodeIndex};
use interlocking_runtime::observer::Observation;

/// The node at position `INDEX`.
pub(crate) enum At<const LEVEL: usize, const INDEX: NodeIndex> {}

/// An observer with memory group `GROUP`.
pub(crate) enum Watcher<const LEVEL: usize, const GROUP: NodeIndex> {}

/// The place that the token itself names.
pub(crate) enum Anywhere<const LEVEL: usize> {}

impl<const LEVEL: usize, const INDEX: NodeIndex> Node for At<LEVEL, INDEX> {
    type Graph = Simulated<LEVEL>;
    type Input = Token<LEVEL>;
    const INDEX: NodeIndex = INDEX;

    fn take(token: Token<LEVEL>) -> Token<LEVEL> {
        token
    }
}

impl<const LEVEL: usize, const GROUP: NodeIndex> Node for Watcher<LEVEL, GROUP> {
    type Graph = Simulated<LEVEL>;
    type Input = Observation;
    // Observers do not use it.
    const INDEX: NodeIndex = NodeIndex::MAX;

    fn take(_: Token<LEVEL>) -> Observation {
        unreachable!("what it sees is taken out before")
    }
}

impl<const LEVEL: usize> Place for Anywhere<LEVEL> {
    type Graph = Simulated<LEVEL>;
    type Payload = Token<LEVEL>;

    fn put(payload: Token<LEVEL>) -> Token<LEVEL> {
        payload
    }
}

impl<const LEVEL: usize, const INDEX: NodeIndex> Edge<Anywhere<LEVEL>> for At<LEVEL, INDEX> {
    type To = Anywhere<LEVEL>;
    // The token itself names the alternative.
    const ALTERNATIVE: AlternativeIndex = AlternativeIndex::MAX;
}

impl<const LEVEL: usize, const INDEX: NodeIndex> Spawns<Anywhere<LEVEL>> for At<LEVEL, INDEX> {
    type To = Anywhere<LEVEL>;
}

impl<const LEVEL: usize, const INDEX: NodeIndex> Resumes for At<LEVEL, INDEX> {}

impl<const LEVEL: usize, const INDEX: NodeIndex> Asks for At<LEVEL, INDEX> {
    type Question = u64;
    type Answer = u64;
}

impl<const LEVEL: usize, const INDEX: NodeIndex> Maps for At<LEVEL, INDEX> {
    type Child = Simulated<1>;
    // The row says whether the handler is asked.
    type Quorum = Judged;
}

impl<const LEVEL: usize, const INDEX: NodeIndex> Runs for At<LEVEL, INDEX> {
    type Child = Simulated<1>;
    type By = Handled;
}

impl<const LEVEL: usize, const INDEX: NodeIndex> RunsChildren for At<LEVEL, INDEX> {}

impl<const LEVEL: usize, const INDEX: NodeIndex> Reports for At<LEVEL, INDEX> {
    type Report = Sum;
}

impl<const LEVEL: usize, const INDEX: NodeIndex> Remembers for At<LEVEL, INDEX> {
    type Memory = Sum;
    // Updates find the group by the row, and nothing else uses this.
    const GROUP: u16 = u16::MAX;
}

impl<const LEVEL: usize, const GROUP: NodeIndex> Reports for Watcher<LEVEL, GROUP> {
    type Report = Sum;
}

impl<const LEVEL: usize, const GROUP: NodeIndex> Remembers for Watcher<LEVEL, GROUP> {
    type Memory = Sum;
    const GROUP: u16 = GROUP;
}
