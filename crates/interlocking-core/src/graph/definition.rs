//! The trait of a graph, which an executor calls, and the result of an execution.

use super::reports::ReportSource;
use super::value::{MemoryVisitor, Token, Value};
use crate::agent_calls::AgentCalls;
use crate::effects::Effects;
use crate::entered::Entered;
use crate::failure::{Failure, NodeError};
use crate::frontier::{Execution, Limit};
use crate::net::{AlternativeIndex, Net, Nets, NodeIndex, PlaceIndex};
use crate::step::Step;
use std::future::Future;

/// A graph: a struct whose fields are nodes, and whose routing table the compiler has checked.
///
/// Code that reads the table of any graph:
///
/// ```
/// use interlocking::prelude::*;
///
/// /// The nodes that an agent works on.
/// fn roles<G: interlocking::graph::Graph>() -> Vec<&'static str> {
///     let nodes = &G::net().table().nodes;
///     nodes.iter().filter_map(|node| node.agent.as_deref()).collect()
/// }
///
/// #[derive(Graph, Default)]
/// #[graph(output = u32)]
/// struct Counting {
///     #[node(entry, input = u32, goto(exit))]
///     count: LogicNode<Count>,
/// }
/// # #[derive(Default)]
/// # struct Count;
/// # impl LogicHandler<counting::count> for Count {
/// #     async fn run(&self, number: u32, cx: &mut Cx<'_, counting::count>) -> Route<counting::count> {
/// #         goto!(cx, counting::exit, number)
/// #     }
/// # }
///
/// assert!(roles::<Counting>().is_empty());
/// println!("{}", interlocking::draw::mermaid(Counting::net().table()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no graph",
    label = "a graph is needed here",
    note = "a struct with `#[derive(Graph)]` is one"
)]
pub trait Graph: Sized + Send + Sync + 'static {
    /// What a run starts with.
    type Entry: Value;
    /// What a run ends with.
    type Output: Value;
    /// A payload with the place it lies in: one variant per place, and one for the full set of slots of each join.
    type Token: Token;
    /// How many nodes the table has.
    const NODES: usize;
    /// How many edges the table has: alternatives, branches, and the routes that the run takes by itself.
    const EDGES: usize;
    /// The worst-case number of agent calls of a run, computed from the table.
    const AGENT_CALLS: AgentCalls = AgentCalls::UNKNOWN;
    /// Whether any node works beside the graph: an advisory node or an observer. What only such nodes need is not compiled for other
    /// graphs.
    const HAS_NODES_BESIDE: bool = true;
    /// Whether a run that is not recorded may be one chain of nodes: [`Features::may_be_chain`](crate::net::Features::may_be_chain).
    /// What only such runs need is not compiled for other graphs.
    const MAY_BE_CHAIN: bool = false;

    /// The routing table, compiled once.
    fn net() -> &'static Net;

    /// Adds the routing tables of this graph and of all graphs below it: those that its map and graph nodes run, and so
    /// on. The default, for a hand-written graph, adds only the graph's own table.
    fn nets(nets: &mut Nets) {
        nets.add(Self::net());
    }

    /// The token that a run starts with.
    fn enter(entry: Self::Entry) -> Self::Token;

    /// The output, if the token lies at the exit.
    fn leave(token: Self::Token) -> Option<Self::Output>;

    /// The input of a join from its slots in order; `None` if the tokens are not that join's.
    fn join(node: NodeIndex, slots: Vec<Self::Token>) -> Option<Self::Token>;

    /// The step from an entry beyond a node's bounds, along the node's `exhausted(…)` route; `None` if the node has
    /// none.
    fn exhausted(node: NodeIndex, limit: Limit, input: Self::Token) -> Option<Step<Self::Token>>;

    /// The step from a node that chose an edge whose budget is spent, with the token that the node made, along that
    /// edge's `exhausted(…)` route; `None` if the edge has none.
    fn exhausted_edge(edge: AlternativeIndex, token: Self::Token) -> Option<Step<Self::Token>> {
        drop((edge, token));
        None
    }

    /// The step from an execution that failed, along `route`, the alternative of the node's `timed_out(…)` or
    /// `failed(…)`; `None` if the node has none.
    fn failed(route: AlternativeIndex, failure: Failure) -> Option<Step<Self::Token>> {
        let _ = (route, failure);
        None
    }

    /// Runs the node in whose place the token lies.
    fn step<'run>(
        &'run self,
        input: Self::Token,
        entered: Entered<'run, Self>,
    ) -> impl Future<Output = Done<Self>> + Send + 'run;

    /// Runs the node in whose place the token lies, and then the nodes that `relay` lets the chain continue to. Returns
    /// the result of the last. This is the same as repeated calls of [`step`](Self::step), without a future for each.
    ///
    /// A single step is always allowed. The default, for a hand-written graph, does that.
    fn chain<'run>(
        &'run self,
        input: Self::Token,
        entered: Entered<'run, Self>,
        relay: &'run mut dyn Relay,
    ) -> impl Future<Output = Done<Self>> + Send + 'run {
        let _ = relay;
        self.step(input, entered)
    }

    /// Calls `visitor` with the type of a memory group; `None` if there is no such group.
    fn visit_memory<V: MemoryVisitor>(group: u16, visitor: V) -> Option<V::Output>;

    /// Makes the run's output from the value that reached the exit and the reports of the nodes beside the graph: calls
    /// [`Finish::finish`](super::Finish::finish), where the graph has such nodes.
    fn finish<R: ReportSource>(
        &self,
        output: Self::Output,
        reports: R,
    ) -> impl Future<Output = Result<Self::Output, NodeError>> + Send {
        drop(reports);
        std::future::ready(Ok(output))
    }
}

/// The result of one node execution.
pub struct Done<G: Graph> {
    /// The step that the node took, or its error.
    pub route: Result<Step<G::Token>, NodeError>,
    /// What else the handler asked for. It takes effect only if the outcome is accepted.
    pub effects: Effects,
}

/// Decides whether a chain of executions continues from one node to the next.
#[doc(hidden)]
pub trait Relay: Send {
    /// Tries to continue after `execution` took `alternative` with a token for `place`, and had no other effect. If the
    /// node of that place may run at once, records the move, sets `execution` to that node's execution and returns
    /// `true`.
    ///
    /// `false` changes nothing: the executor must handle the outcome.
    fn relay(&mut self, alternative: AlternativeIndex, place: PlaceIndex, execution: &mut Execution) -> bool;
}

/// The relay that continues no chain, for a single execution. An empty array takes no memory.
impl Relay for [Execution; 0] {
    fn relay(&mut self, _: AlternativeIndex, _: PlaceIndex, _: &mut Execution) -> bool {
        false
    }
}

impl Nets {
    /// The nets of graph `G` and of all graphs below it; `G`'s own is the first.
    pub fn of<G: Graph>() -> Self {
        let mut nets = Self::default();
        G::nets(&mut nets);
        nets
    }
}

const MISPLACED: &str = "the token lies in a place that no handler consumes; the executor and the graph disagree";

impl<G: Graph> Done<G> {
    /// An execution that failed before its handler could run.
    pub fn failed(error: impl Into<NodeError>) -> Self {
        Self { route: Err(error.into()), effects: Effects::default() }
    }

    /// The token lies in a place that no handler consumes.
    pub fn misplaced() -> Self {
        Self::failed(MISPLACED)
    }
}

/// The token lies in a place that no handler consumes.
///
/// # Errors
///
/// Always.
pub(crate) fn misplaced<P>() -> Result<Step<P>, NodeError> {
    Err(MISPLACED.into())
}
