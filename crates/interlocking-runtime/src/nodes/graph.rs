//! The node kind that runs a child graph once.
//!
//! The child is a run with a journal of its own, and shares its parent's agents, budgets and observers, as the children of a
//! [map](super::map) do. The node continues with the child's output. If the child fails, the node fails with
//! [`FailureKind::Child`](interlocking_core::failure::FailureKind::Child), which holds the child's failure. A node that is
//! resumed after a crash continues the child that it had; a node that is entered again begins a new child.

use super::map::{self, AnyItem, Item};
use crate::context::services::UntypedServices;
use crate::erased::graph_type::{AnyGraph, AnyValue, GraphType, graph_type, typed};
use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{Graph, Handled, PassedOn, PassesOn, Runs};
use interlocking_core::kind::Kind;
use interlocking_core::route::Route;
use std::future::Future;
use std::sync::Arc;

/// A node that runs a child graph once. Where the child starts with the node's input and its output goes to the node's one
/// target, the node is a `GraphNode<Child>`, made by `GraphNode(child)`; otherwise it is a `GraphNode<Handler>`.
///
/// A node whose child takes the node's input, and returns what the node's target takes:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Polish {
///     #[node(entry, input = String, goto(exit))]
///     trim: LogicNode<Trim>,
/// }
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Press {
///     // The types fit, and there is one way on: the node holds the child itself, without a handler.
///     #[node(entry, input = String, graph = Polish, goto(exit))]
///     polish: GraphNode<Polish>,
/// }
///
/// struct Trim;
/// impl LogicHandler<polish::trim> for Trim {
///     async fn run(&self, text: String, cx: &mut Cx<'_, polish::trim>) -> Route<polish::trim> {
///         goto!(cx, polish::exit, text.trim().to_owned())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let press = Press { polish: GraphNode(Polish { trim: LogicNode(Trim) }) };
/// let report = Run::new(press).start(" mind the gap ".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("mind the gap"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct GraphNode<H> {
    inner: Arc<H>,
}

/// A [`GraphNode`](struct@GraphNode) of a child graph or of a handler.
#[expect(non_snake_case, reason = "a node of any kind is made by the kind's name")]
pub fn GraphNode<H>(inner: H) -> GraphNode<H> {
    GraphNode { inner: Arc::new(inner) }
}

/// The handler of a [`GraphNode`](struct@GraphNode) whose child starts with something else than the node's input, or whose
/// output is not simply the payload of its one target.
///
/// A node that gives its child a part of its input, and makes its own output from the child's:
///
/// ```
/// use interlocking::prelude::*;
/// use std::sync::Arc;
/// #
/// # #[derive(Graph)]
/// # #[graph(output = usize)]
/// # struct Counting {
/// #     #[node(entry, input = String, goto(exit))]
/// #     count: LogicNode<Count>,
/// # }
/// # struct Count;
/// # impl LogicHandler<counting::count> for Count {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, counting::count>) -> Route<counting::count> {
/// #         goto!(cx, counting::exit, text.split_whitespace().count())
/// #     }
/// # }
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Fees {
///     #[node(entry, input = (String, usize), graph = Counting, goto(exit))]
///     count: GraphNode<CountWords>,
/// }
///
/// struct CountWords;
/// impl GraphHandler<fees::count> for CountWords {
///     fn graph(&self, _: &Cx<'_, fees::count>) -> Result<Arc<Counting>, NodeError> {
///         Ok(Arc::new(Counting { count: LogicNode(Count) }))
///     }
///     async fn entry(&self, (text, _): &(String, usize), _: &mut Cx<'_, fees::count>) -> Result<String, NodeError> {
///         Ok(text.clone())
///     }
///     async fn after(
///         &self,
///         (_, cents): (String, usize),
///         words: usize,
///         cx: &mut Cx<'_, fees::count>,
///     ) -> Route<fees::count> {
///         goto!(cx, fees::exit, format!("{words} words: {} cents", words * cents))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Fees { count: GraphNode(CountWords) }).start(("mind the gap".to_owned(), 20)).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("3 words: 60 cents"));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle graph node `{N}`",
    label = "missing `impl GraphHandler<{N}> for {Self}`",
    note = "a node with one target needs no handler: `GraphNode<Child>`, with the graph spelled as in its row"
)]
pub trait GraphHandler<N: Runs>: Send + Sync {
    /// The graph that the child runs. Where it is the node's own graph, [`own_graph`](crate::RunContext::own_graph) returns it.
    ///
    /// # Errors
    ///
    /// The node fails with the error.
    fn graph(&self, cx: &Cx<'_, N>) -> Result<Arc<N::Child>, NodeError>;

    /// The value that the child starts with.
    fn entry(
        &self,
        input: &N::Input,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Result<<N::Child as Graph>::Entry, NodeError>> + Send;

    /// Takes the child's output, and says where to go next.
    fn after(
        &self,
        input: N::Input,
        output: <N::Child as Graph>::Output,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Route<N>> + Send;
}

/// How a graph node `N` that holds an `H` runs: with a handler, or without.
#[doc(hidden)]
pub trait Conducts<N: Runs, H>: Sized {
    /// Runs the node once.
    fn run(inner: &Arc<H>, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

impl<N: Runs, H: GraphHandler<N>> Conducts<N, H> for Handled {
    async fn run(inner: &Arc<H>, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let graph = inner.graph(cx)?;
        let entry = inner.entry(&input, cx).await?;
        let output = child(graph, entry, cx).await?;
        inner.after(input, output, cx).await
    }
}

impl<N: PassesOn> Conducts<N, N::Child> for PassedOn {
    async fn run(inner: &Arc<N::Child>, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let output = child(inner.clone(), N::entry(input), cx).await?;
        N::go_on(output, cx)
    }
}

impl<N: Runs<By: Conducts<N, H>>, H: Send + Sync> Kind<N> for GraphNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        N::By::run(&self.inner, input, cx)
    }
}

/// Runs the child to its end, as the only child of a map. The child's key is the node's name.
async fn child<N: Runs>(
    graph: Arc<N::Child>,
    entry: <N::Child as Graph>::Entry,
    cx: &Cx<'_, N>,
) -> Result<<N::Child as Graph>::Output, NodeError> {
    let (untyped, item) = (UntypedServices::of(cx)?, Item::<N::Child>::new(entry).with_key(cx.node()));
    child_of_type(untyped, cx.execution(), graph_type::<N::Child>(), graph, item.untyped()).await.map(typed)
}

/// See [`child`]. This is compiled once, and not for each graph.
async fn child_of_type(
    untyped: &UntypedServices,
    execution: Execution,
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    item: AnyItem,
) -> Result<AnyValue, NodeError> {
    if let Some(results) = untyped.settings.child_results()
        && let Some(json) = results(untyped.run(), &untyped.by(execution))
    {
        return Ok(graph_type.read_output(&json)?);
    }
    let (children, _) = map::start(untyped, execution, graph_type, graph, vec![item]).await?;
    let ended = children.any().await;
    Ok(ended.ok_or("the child run has ended without a result")?.result?)
}
