//! One execution of one node, and its input.

use crate::net::NodeIndex;
use serde::{Deserialize, Serialize};

/// One execution of one node. An outcome is reported for an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Execution {
    /// The node.
    pub node: NodeIndex,
    /// How often the node has been entered in this run, this time included: 1-based.
    pub visit: u32,
    /// How often it has come back to itself in this visit, this time included: 1-based.
    pub attempt: u32,
}

/// A node that has its input.
#[derive(Debug)]
pub struct Due<P> {
    /// The execution to report the outcome for.
    pub execution: Execution,
    /// The token, or one per slot in slot order; for a join with a quorum, only of the slots that are filled.
    pub input: Input<P>,
    /// The bound that this entry exceeds: take the exhausted route instead of running the handler.
    pub exhausted: Option<Limit>,
}

/// What a node execution consumes.
#[derive(Debug)]
pub enum Input<P> {
    /// A node's input.
    One(P),
    /// A join's slots, in order; for a join with a quorum, only those that are filled.
    Slots(Vec<P>),
}

/// A bound that an entry, or the choice of an edge, exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// `visits = n`.
    Visits(u32),
    /// `attempts = n`.
    Attempts(u32),
    /// `times = n`, of an edge.
    Times(u32),
}

/// The effect of an outcome.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// The executions that were running and are now discarded: stop them.
    pub cancelled: Vec<Execution>,
}
