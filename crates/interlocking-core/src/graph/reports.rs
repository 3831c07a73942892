//! What nodes beside a graph reported.

use super::value::Value;
use crate::failure::{Failure, NodeError};
use crate::net::NodeIndex;

/// What one execution beside the graph reported.
///
/// A judge that failed, or was late, gives no mark:
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
