//! The reports of the nodes beside a graph.

use super::value::Value;
use crate::failure::{Failure, NodeError};
use crate::net::NodeIndex;

/// The report of one execution beside the graph.
///
/// A judge that failed, or was too late, gives no mark:
///
/// ```
/// use interlocking_core::graph::Reported;
///
/// fn mean(marks: &[Reported<f64>]) -> f64 {
///     let given: Vec<f64> = marks.iter().filter_map(|mark| mark.result.as_ref().ok().copied()).collect();
///     given.iter().sum::<f64>() / given.len() as f64
/// }
///
/// let marks = [Reported { visit: 1, result: Ok(4.0) }, Reported { visit: 2, result: Ok(5.0) }];
/// assert_eq!(mean(&marks), 4.5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported<R> {
    /// The execution's visit, 1-based. For an observer, which reports once, this is the number of outcomes it was
    /// shown.
    pub visit: u32,
    /// The report, or why there is none: the execution failed, or was not finished when the graph's time for it was
    /// over.
    pub result: Result<R, Box<Failure>>,
}

/// Where [`Graph::finish`](super::Graph::finish) reads the reports from.
pub trait ReportSource: Send {
    /// The reports of a node, in the order of its visits.
    ///
    /// # Errors
    ///
    /// If a report cannot be read as `R`.
    fn read<R: Value>(&mut self, node: NodeIndex) -> Result<Vec<Reported<R>>, NodeError>;
}
