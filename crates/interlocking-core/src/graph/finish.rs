//! What becomes of the reports of the nodes beside a graph.

use super::definition::Graph;
use crate::failure::NodeError;
use std::future::Future;

/// A graph with nodes beside it, advisory ones and observers, that report at its exit.
pub trait Reporting: Graph {
    /// What they reported: a struct with one field a node, a list of [`Reported`](super::Reported) each.
    type Reports: Send;
}

/// What the nodes beside `G` reported: what [`Finish::finish`] takes.
pub type ReportsOf<G> = <G as Reporting>::Reports;

/// What becomes of the reports of the nodes beside a graph.
#[diagnostic::on_unimplemented(
    message = "nobody takes the reports of graph `{Self}`",
    label = "nodes of `{Self}` report to its exit",
    note = "write `impl Finish for {Self}`, which makes the run's output of what came to the exit and of the reports"
)]
pub trait Finish: Reporting {
    /// Makes the run's output of what came to its exit and what the nodes beside the graph reported.
    ///
    /// It can be stopped at any `await`: the run is cancelled or suspended, its time is over, or its process ends. Nothing is
    /// recorded of it but the end of the run. Where that is not recorded, a run that is resumed calls it again, with the same output
    /// and what was reported by then: what it does beyond its result may be done more than once.
    ///
    /// # Errors
    ///
    /// Its error, or its panic, is a failure of the run.
    fn finish(
        &self,
        output: Self::Output,
        reports: Self::Reports,
    ) -> impl Future<Output = Result<Self::Output, NodeError>> + Send;
}
