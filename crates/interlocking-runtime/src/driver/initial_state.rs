//! The state in which a driver takes over a run: that of a new run, or that of a run whose records were replayed.

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
    /// The executions that had begun, and that start again.
    pub(crate) in_flight: Vec<(Execution, ErasedToken)>,
    /// The advisory executions that had begun, and that start again.
    pub(crate) advisory: Vec<(Execution, ErasedToken)>,
    /// The reports that background executions have made.
    pub(crate) reports: Vec<(Execution, Result<Encoded, Failure>)>,
    /// The outcomes that observers are shown again.
    pub(crate) observed: Vec<NodeOutcome>,
    /// The messages that were recorded last, and may not have been sent.
    pub(crate) posted: Option<(By, Vec<MessageRecord>)>,
    /// The failure that ends the run at once: it follows from the records, but no record says so.
    pub(crate) pending_failure: Option<Failure>,
    /// The number of the last letter that had arrived when the run was retried; 0 if it never was retried.
    pub(crate) retried_after: u64,
}
