//! What nodes beside a graph reported.

use super::value::Value;
use crate::failure::{Failure, NodeError};
use crate::net::NodeIndex;

/// What one execution beside the graph reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported<R> {
    /// The execution's visit, 1-based. An observer reports once: of it this is how many outcomes it was shown.
    pub visit: u32,
    /// Its report, or why there is none: it failed, or was not done when the graph's time for it was over.
    pub result: Result<R, Box<Failure>>,
}

/// Where [`Graph::finish`](super::Graph::finish) reads what was reported.
pub trait ReportSource: Send {
    /// The reports of a node, in the order of its visits.
    ///
    /// # Errors
    ///
    /// That a report cannot be read as `R`.
    fn read<R: Value>(&mut self, node: NodeIndex) -> Result<Vec<Reported<R>>, NodeError>;
}
