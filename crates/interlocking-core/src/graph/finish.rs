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
///
/// A text goes out with what its readers think of it:
///
/// ```
/// use interlocking::graph::ReportsOf;
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Press {
///     #[node(entry, input = String, goto(exit), spawn(read))]
///     print: LogicNode<Print>,
///     #[node(input = String, report = String, reports_to(exit))]
///     read: AdvisoryNode<Read>,
/// }
///
/// impl Finish for Press {
///     async fn finish(&self, text: String, reports: ReportsOf<Self>) -> Result<String, NodeError> {
///         // One field for each node that reports; a reader that failed is left out.
///         let opinions: Vec<String> = reports.read.into_iter().filter_map(|report| report.result.ok()).collect();
///         Ok(format!("{text} – {}", opinions.join(", ")))
///     }
/// }
/// # struct Print;
/// # impl LogicHandler<press::print> for Print {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, press::print>) -> Route<press::print> {
/// #         cx.spawn::<press::read>(text.clone());
/// #         goto!(cx, press::exit, text)
/// #     }
/// # }
/// # struct Read;
/// # impl AdvisoryHandler<press::read> for Read {
/// #     async fn advise(&self, _: String, _: &mut Cx<'_, press::read>) -> Result<String, NodeError> {
/// #         Ok("a good read".to_owned())
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Press { print: LogicNode(Print), read: AdvisoryNode(Read) }).start("Tides".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("Tides – a good read"));
/// # Ok(())
/// # }
/// ```
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
