//! The state in which a driver takes over a run: a new one, or one that its records were replayed for.

use crate::journal::{By, Encoded, MessageRecord, NodeOutcome};
use interlocking_core::failure::Failure;
use interlocking_core::frontier::{Execution, Frontier};
use interlocking_core::graph::Graph;
use interlocking_core::net::NodeIndex;
use std::collections::VecDeque;

/// The state of a run before it is driven.
pub(crate) struct Standing<G: Graph> {
    pub(crate) frontier: Frontier<'static, G::Token>,
    pub(crate) arrived: Vec<Option<Encoded>>,
    /// The executions that had begun, and begin once more.
    pub(crate) in_flight: Vec<(Execution, G::Token)>,
    pub(crate) mailbox: VecDeque<(NodeIndex, G::Token)>,
    pub(crate) letters: u64,
    /// The advisory executions that have not come to an end.
    pub(crate) background: Vec<(Execution, G::Token)>,
    pub(crate) reports: Vec<StandingReport>,
    /// What observers have seen.
    pub(crate) observed: Vec<NodeOutcome>,
    /// The messages that were recorded last, and may not have been sent.
    pub(crate) posted: Option<(By, Vec<MessageRecord>)>,
    /// The failure that ends the run at once: it follows from the records, but none says so.
    pub(crate) doomed: Option<Failure>,
    /// The number of the last letter that had come when the run was retried; 0 if it never was.
    pub(crate) retried_after: u64,
    /// Whether the run was resumed.
    pub(crate) is_taken_up: bool,
}

/// The report of a background execution.
pub(crate) struct StandingReport {
    pub(crate) execution: Execution,
    pub(crate) report: Result<Encoded, Failure>,
}

/// The part of a resumed run's state that the driver acts on once, when it begins.
pub(crate) struct Begun<G: Graph> {
    pub(crate) in_flight: Vec<(Execution, G::Token)>,
    pub(crate) advisory: Vec<(Execution, G::Token)>,
    pub(crate) reports: Vec<StandingReport>,
    pub(crate) observed: Vec<NodeOutcome>,
    pub(crate) posted: Option<(By, Vec<MessageRecord>)>,
    pub(crate) doomed: Option<Failure>,
    pub(crate) retried_after: u64,
}
