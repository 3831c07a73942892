//! The node kind that works beside the graph and reports at its exit.
//!
//! The outcome of another node starts an advisory node with `cx.spawn::<graph::node>(input)`. The advisory node's token is
//! never among the run's. Its failure never fails the graph, and the exit waits for it up to a deadline (HY-67, HY-257).

use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Reports, Stored};
use interlocking_core::kind::Kind;
use interlocking_core::route::{Goto, Route};
use std::future::Future;

/// A node that works beside the graph.
///
/// An advisory node may fail, and the run finishes all the same:
///
/// ```
/// use interlocking::graph::ReportsOf;
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = u32)]
/// struct Till {
///     #[node(entry, input = u32, goto(exit), spawn(audit))]
///     pay: LogicNode<Pay>,
///     #[node(input = u32, report = (), reports_to(exit))]
///     audit: AdvisoryNode<Audit>,
/// }
///
/// struct Pay;
/// impl LogicHandler<till::pay> for Pay {
///     async fn run(&self, dollars: u32, cx: &mut Cx<'_, till::pay>) -> Route<till::pay> {
///         cx.spawn::<till::audit>(dollars);
///         goto!(cx, till::exit, dollars)
///     }
/// }
///
/// struct Audit;
/// impl AdvisoryHandler<till::audit> for Audit {
///     async fn advise(&self, _: u32, _: &mut Cx<'_, till::audit>) -> Result<(), NodeError> {
///         Err("the auditor is on holiday".into())
///     }
/// }
///
/// impl Finish for Till {
///     async fn finish(&self, dollars: u32, reports: ReportsOf<Self>) -> Result<u32, NodeError> {
///         assert!(reports.audit[0].result.is_err());
///         Ok(dollars)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let till = Till { pay: LogicNode(Pay), audit: AdvisoryNode(Audit) };
/// assert_eq!(Run::new(till).start(20).await?.outcome.finished(), Some(20));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AdvisoryNode<H>(pub H);

/// The handler of an [`AdvisoryNode`].
///
/// A count that is made beside the work, and read at the exit:
///
/// ```
/// use interlocking::graph::ReportsOf;
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Newsroom {
///     #[node(entry, input = String, goto(exit), spawn(length))]
///     write: LogicNode<Write>,
///     #[node(input = String, report = u32, reports_to(exit))]
///     length: AdvisoryNode<Length>,
/// }
///
/// struct Write;
/// impl LogicHandler<newsroom::write> for Write {
///     async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
///         cx.spawn::<newsroom::length>(text.clone());
///         goto!(cx, newsroom::exit, text)
///     }
/// }
///
/// struct Length;
/// impl AdvisoryHandler<newsroom::length> for Length {
///     async fn advise(&self, text: String, _: &mut Cx<'_, newsroom::length>) -> Result<u32, NodeError> {
///         Ok(text.split(' ').count().try_into()?)
///     }
/// }
///
/// /// Makes the run's output of what came to the exit and of what was reported.
/// impl Finish for Newsroom {
///     async fn finish(&self, text: String, reports: ReportsOf<Self>) -> Result<String, NodeError> {
///         let words: u32 = reports.length.into_iter().filter_map(|report| report.result.ok()).sum();
///         Ok(format!("{text} ({words} words)"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let newsroom = Newsroom { write: LogicNode(Write), length: AdvisoryNode(Length) };
/// let report = Run::new(newsroom).start("all clear".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("all clear (2 words)"));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle advisory node `{N}`",
    label = "missing `impl AdvisoryHandler<{N}> for {Self}`"
)]
pub trait AdvisoryHandler<N: Reports>: Send + Sync {
    /// Does the work, and returns what the node reports at the exit.
    fn advise(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Result<N::Report, NodeError>> + Send;
}

impl<N: Reports, H: AdvisoryHandler<N>> Kind<N> for AdvisoryNode<H> {
    async fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let report = self.0.advise(input, cx).await?;
        cx.report(serde_json::to_string(&Stored(&report))?);
        Ok(Goto::stay())
    }
}
