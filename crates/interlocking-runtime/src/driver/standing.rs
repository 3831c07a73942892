//! Where a run stands before it is driven, and what of it begins again.

use crate::journal::{By, Encoded, MessageRecord, NodeOutcome};
use interlocking_core::failure::Failure;
use interlocking_core::frontier::{Execution, Frontier};
use interlocking_core::graph::Graph;
use interlocking_core::net::NodeIndex;
use std::collections::VecDeque;

/// Where a run stands before it is driven.
pub(crate) struct Standing<G: Graph> {
    pub(crate) frontier: Frontier<'static, G::Token>,
    pub(crate) arrived: Vec<Option<Encoded>>,
    /// What has begun, and begins again now.
    pub(crate) in_flight: Vec<(Execution, G::Token)>,
    pub(crate) mailbox: VecDeque<(NodeIndex, G::Token)>,
    pub(crate) letters: u64,
    /// The advisory executions that have not come to an end.
    pub(crate) background: Vec<(Execution, G::Token)>,
    pub(crate) reports: Vec<StandingReport>,
    /// What observers have seen.
    pub(crate) observed: Vec<NodeOutcome>,
    /// What was sent last to other runs, which may not have got it.
    pub(crate) posted: Option<(By, Vec<MessageRecord>)>,
    /// What ends it at once: it had failed, and no record says so.
    pub(crate) doomed: Option<Failure>,
    /// The number of the last letter that had come when the run was retried; 0 if it never was.
    pub(crate) retried_after: u64,
    /// Whether it has run before.
    pub(crate) is_taken_up: bool,
}

/// What an execution beside the graph came to.
pub(crate) struct StandingReport {
    pub(crate) execution: Execution,
    pub(crate) report: Result<Encoded, Failure>,
}

/// What had begun before a run was taken up.
pub(crate) struct Begun<G: Graph> {
    pub(crate) in_flight: Vec<(Execution, G::Token)>,
    pub(crate) advisory: Vec<(Execution, G::Token)>,
    pub(crate) reports: Vec<StandingReport>,
    pub(crate) observed: Vec<NodeOutcome>,
    pub(crate) posted: Option<(By, Vec<MessageRecord>)>,
    pub(crate) doomed: Option<Failure>,
    pub(crate) retried_after: u64,
}
