//! How a graph uses the reports of the nodes beside it.

use super::definition::Graph;
use crate::failure::NodeError;
use std::future::Future;

/// A graph with nodes beside it, advisory ones and observers, that report at its exit.
pub trait Reporting: Graph {
    /// The reports: a struct with one field per node, each a list of [`Reported`](super::Reported).
    type Reports: Send;
}

/// The reports of the nodes beside `G`, which [`Finish::finish`] takes.
pub type ReportsOf<G> = <G as Reporting>::Reports;

/// How a graph uses the reports of the nodes beside it.
///
/// A text is published with the opinions of its readers:
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
    message = "graph `{Self}` does not take the reports of its nodes",
    label = "nodes of `{Self}` report to its exit",
    note = "write `impl Finish for {Self}`, which makes the run's output of what came to the exit and of the reports"
)]
pub trait Finish: Reporting {
    /// Makes the run's output from the value that reached the exit and the reports of the nodes beside the graph.
    ///
    /// It can be stopped at any `await`: because the run is cancelled or suspended, its time is over, or its process
    /// ends. The journal records only the end of the run. If that record is missing, a resumed run calls this method
    /// again, with the same output and the reports made by then. So side effects of this method may happen more than
    /// once.
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
