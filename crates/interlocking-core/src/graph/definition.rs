//! A graph: what an executor asks of it, and what came of an execution.

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
/// What is said for any graph, from its table:
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
    /// A payload with the place it lies in: one variant a place, and one for the full set of each join.
    type Token: Token;
    /// How many nodes the table has.
    const NODES: usize;
    /// How many edges the table has: alternatives, branches, and the routes that the run takes by itself.
    const EDGES: usize;
    /// The worst-case number of agent calls of a run, told from the table.
    const AGENT_CALLS: AgentCalls = AgentCalls::UNKNOWN;

    /// The routing table, compiled once.
    fn net() -> &'static Net;

    /// Adds the routing tables of this graph and of the graphs that its map nodes run, and of those that theirs do. A
    /// hand-written graph adds its own, unless it says more.
    fn nets(nets: &mut Nets) {
        nets.add(Self::net());
    }

    /// The token that a run starts with.
    fn enter(entry: Self::Entry) -> Self::Token;

    /// The output, if the token lies at the exit.
    fn leave(token: Self::Token) -> Option<Self::Output>;

    /// The input of a join from its slots in order; `None` if they are not that join's.
    fn join(node: NodeIndex, slots: Vec<Self::Token>) -> Option<Self::Token>;

    /// The way on from an entry beyond a node's bounds, along its `exhausted(…)` route; `None` if it has none.
    fn exhausted(node: NodeIndex, limit: Limit, input: Self::Token) -> Option<Step<Self::Token>>;

    /// The way on from a node that chose an edge which is spent, with the token that it made, along that edge's `exhausted(…)`
    /// route; `None` if it has none.
    fn exhausted_edge(edge: AlternativeIndex, token: Self::Token) -> Option<Step<Self::Token>> {
        drop((edge, token));
        None
    }

    /// The way on from an execution that failed, along `route`, which is the alternative of its node's `timed_out(…)` or
    /// `failed(…)`; `None` if it has none.
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

    /// Runs the node in whose place the token lies, and then those that `relay` lets it go on to; gives what came of the
    /// last. The same as [`step`](Self::step) again and again, without a future for each.
    ///
    /// One step alone is always allowed, and is what a hand-written graph gets.
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

    /// Makes the run's output of what came to its exit and what the nodes beside the graph reported: calls
    /// [`Finish::finish`](super::Finish::finish), where there are such nodes.
    fn finish<R: ReportSource>(
        &self,
        output: Self::Output,
        reports: R,
    ) -> impl Future<Output = Result<Self::Output, NodeError>> + Send {
        drop(reports);
        std::future::ready(Ok(output))
    }
}

/// What came of one node execution.
pub struct Done<G: Graph> {
    /// The way on, or why there is none.
    pub route: Result<Step<G::Token>, NodeError>,
    /// What else the handler asked for; it counts only if the outcome does.
    pub effects: Effects,
}

/// Lets a chain of executions go on from one to the next.
#[doc(hidden)]
pub trait Relay: Send {
    /// Takes in that `execution` has taken `alternative` with a token for `place` and nothing else, if that node may run
    /// at once: true, and `execution` is that node's.
    ///
    /// `false` leaves everything as it was: the executor must look at the outcome.
    fn relay(&mut self, alternative: AlternativeIndex, place: PlaceIndex, execution: &mut Execution) -> bool;
}

/// What lets nothing go on: the one of an execution that is alone. A list that is empty needs no place to be.
impl Relay for [Execution; 0] {
    fn relay(&mut self, _: AlternativeIndex, _: PlaceIndex, _: &mut Execution) -> bool {
        false
    }
}

impl Nets {
    /// Those of graph `G` and of all below it; its own is the first.
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
