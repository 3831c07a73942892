//! How often each node has been entered.

use super::execution::Execution;
use crate::net::NodeIndex;

/// How often a node was entered, and the attempts since then. Packed into one number, because a chain of nodes stores
/// both three times per hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts(u64);

impl Counts {
    #[inline]
    pub(super) fn new(visits: u32, attempt: u32) -> Self {
        Self(u64::from(visits) | u64::from(attempt) << 32)
    }

    #[inline]
    pub(super) fn visits(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(super) fn attempt(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The latest execution of `node`, whose counts these are.
    #[inline]
    pub(super) fn execution(self, node: NodeIndex) -> Execution {
        Execution { node, visit: self.visits(), attempt: self.attempt() }
    }
}

/// The nodes that have been entered, each with how often.
pub(super) fn entries(counts: &[Counts]) -> impl Iterator<Item = (NodeIndex, u32)> + '_ {
    let visits = counts.iter().zip(0..).map(|(counts, node)| (node, counts.visits()));
    visits.filter(|(_, visits)| *visits > 0)
}
