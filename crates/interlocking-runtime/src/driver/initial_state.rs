//! The state in which a driver takes over a run: a new one, or one that its records were replayed for.

use crate::erased::token::ErasedToken;
use crate::journal::{By, Encoded, MessageRecord, NodeOutcome};
use interlocking_core::failure::Failure;
use interlocking_core::frontier::{Execution, Frontier};
use interlocking_core::net::NodeIndex;
use std::collections::VecDeque;

/// The state of a run before it is driven.
pub(crate) struct InitialState {
    pub(crate) frontier: Frontier<'static, ErasedToken>,
    /// By place: the payload that arrived last; empty where the run has no journal.
    pub(crate) arrived: Vec<Option<Encoded>>,
    pub(crate) mailbox: VecDeque<(NodeIndex, ErasedToken)>,
    /// The number of the last letter that was received.
    pub(crate) letters: u64,
    /// `None` for a new run.
    pub(crate) resumption: Option<Box<Resumption>>,
}

/// What the driver of a resumed run does first.
pub(crate) struct Resumption {
    /// The executions that had begun, and begin once more.
    pub(crate) in_flight: Vec<(Execution, ErasedToken)>,
    /// The same of advisory nodes.
    pub(crate) advisory: Vec<(Execution, ErasedToken)>,
    /// The reports that background executions have made.
    pub(crate) reports: Vec<(Execution, Result<Encoded, Failure>)>,
    /// The outcomes that observers are shown again.
    pub(crate) observed: Vec<NodeOutcome>,
    /// The messages that were recorded last, and may not have been sent.
    pub(crate) posted: Option<(By, Vec<MessageRecord>)>,
    /// The failure that ends the run at once: it follows from the records, but none says so.
    pub(crate) doomed: Option<Failure>,
    /// The number of the last letter that had come when the run was retried; 0 if it never was.
    pub(crate) retried_after: u64,
}
