//! The traits by which a struct is a graph and its fields are nodes. `#[derive(Graph)]` writes every impl here; none is
//! meant to be written by hand, though nothing stops an engine or a test from doing so.

use crate::agent_calls::AgentCalls;
use crate::context::Entered;
use crate::failure::{Failure, NodeError};
use crate::frontier::{Execution, Limit, Payload};
use crate::kind::Kind;
use crate::net::{AlternativeIndex, Net, Nets, NodeIndex, PlaceIndex};
use crate::route::Step;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};
use std::future::Future;

/// What travels along edges and is journaled: owned serde data.
///
/// Implemented for every type that qualifies.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel along an edge",
    label = "needs `Serialize`, `DeserializeOwned` and `Send`",
    note = "derive them: `#[derive(serde::Serialize, serde::Deserialize)]`"
)]
pub trait Value: Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Value for T {}

/// A memory that nodes of one run share: starts as its default and survives loops.
pub trait Memory: Value + Default + Clone {}

impl<T: Value + Default + Clone> Memory for T {}

/// A graph: a struct whose fields are nodes, and whose routing table the compiler has checked.
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
    /// How many edges the table has: alternatives, branches and exhausted routes.
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
    /// [`Finish::finish`], where there are such nodes.
    fn finish<R: ReportSource>(
        &self,
        output: Self::Output,
        reports: R,
    ) -> impl Future<Output = Result<Self::Output, NodeError>> + Send {
        drop(reports);
        std::future::ready(Ok(output))
    }
}

/// A graph with nodes beside it, advisory ones and observers, that report at its exit.
pub trait Reporting: Graph {
    /// What they reported: a struct with one field a node, a list of [`Reported`] each.
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

/// What one execution beside the graph reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported<R> {
    /// The execution's visit, 1-based. An observer reports once: of it this is how many outcomes it was shown.
    pub visit: u32,
    /// Its report, or why there is none: it failed, or was not done when the graph's time for it was over.
    pub result: Result<R, Box<Failure>>,
}

/// Where [`Graph::finish`] reads what was reported.
pub trait ReportSource: Send {
    /// The reports of a node, in the order of its visits.
    ///
    /// # Errors
    ///
    /// That a report cannot be read as `R`.
    fn read<R: DeserializeOwned>(&mut self, node: NodeIndex) -> Result<Vec<Reported<R>>, NodeError>;
}

/// What came of one node execution.
pub struct Done<G: Graph> {
    /// The way on, or why there is none.
    pub route: Result<Step<G::Token>, NodeError>,
    /// What else the handler asked for; it counts only if the outcome does.
    pub effects: crate::context::Effects,
}

/// Lets a chain of executions go on from one to the next.
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

/// A graph's tokens: payloads that know their place and can be stored.
pub trait Token: Payload + Send + Sync + 'static {
    /// Writes the payload, without the place.
    ///
    /// # Errors
    ///
    /// The serializer's.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads the payload of a token that lies in `place`.
    ///
    /// # Errors
    ///
    /// The deserializer's, or that the graph has no such place.
    fn deserialize<'de, D: Deserializer<'de>>(place: PlaceIndex, deserializer: D) -> Result<Self, D::Error>;
}

/// Called with the type of a memory group.
pub trait MemoryVisitor {
    /// What it gives back.
    type Output;

    /// Visits memory type `M`.
    fn visit<M: Memory>(self) -> Self::Output;
}

/// A node: a marker type with the field's name, which stands for the node in types.
pub trait Node: Sized + Send + 'static {
    /// The graph it is a node of.
    type Graph: Graph;
    /// What it takes: its input, or the tuple of its slots.
    type Input: Send + Sync + 'static;
    /// Its position in the table.
    const INDEX: NodeIndex;

    /// The input, from a token that is for this node.
    ///
    /// # Panics
    ///
    /// If it is for another.
    fn take(token: <Self::Graph as Graph>::Token) -> Self::Input;
}

/// A node that is a field of its graph.
pub trait Field: Node {
    /// The field's type.
    type Kind: Kind<Self>;
    /// Whether there is such a node: a list of nodes may be filled up with none.
    #[doc(hidden)]
    const EXISTS: bool = true;

    /// The field.
    fn of(graph: &Self::Graph) -> &Self::Kind;
}

/// A place that an edge can lead to: a node's input, a join's slot, the exit.
pub trait Place: Sized + 'static {
    /// The graph it is a place of.
    type Graph: Graph;
    /// What it takes.
    type Payload: Value;

    /// A token that lies here.
    fn put(payload: Self::Payload) -> <Self::Graph as Graph>::Token;
}

/// An edge of the table, from the node that implements it to `Target`.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` has no edge to `{Target}`",
    label = "`{Target}` is not in the routing table of `{Self}`",
    note = "declare it on the graph struct: `#[node(goto({Target}))]`"
)]
pub trait Edge<Target>: Node {
    /// The place where the edge ends.
    type To: Place<Graph = Self::Graph>;
    /// Which alternative of the net it is.
    const ALTERNATIVE: AlternativeIndex;
}

/// A node that may continue on all branches of a fork.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` does not fork",
    label = "`fork!` needs branches in the routing table of `{Self}`",
    note = "declare them on the graph struct: `#[node(fork(…))]`"
)]
pub trait Forks: Node {
    /// One payload a branch, in table order.
    type Branches;
    /// Which alternative of the net the fork is.
    const ALTERNATIVE: AlternativeIndex;

    /// One token a branch.
    fn tokens(branches: Self::Branches) -> Vec<<Self::Graph as Graph>::Token>;
}

/// A fork's branch that may choose `Target`.
#[diagnostic::on_unimplemented(
    message = "no branch of node `{Self}` may choose `{Target}`",
    label = "`{Target}` is not an alternative in the fork of `{Self}`",
    note = "declare it on the graph struct: `#[node(fork(… | {Target}))]`"
)]
pub trait Branch<Target>: Forks {
    /// The place where the branch then starts.
    type To: Place<Graph = Self::Graph>;
    /// Which branch it is: an [`Nth`](crate::route::Nth).
    type Position;
}

/// A node with a memory.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` has no memory",
    label = "`{Self}` belongs to no memory group",
    note = "declare it on the graph struct: `#[node(memory = Type)]`, or `memory(group: Type)` to share one"
)]
pub trait Remembers: Node {
    /// The type of its memory group.
    type Memory: Memory;
    /// The index of its memory group.
    const GROUP: u16;
}

/// A node that works in a workspace.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` has no workspace",
    label = "`{Self}` works in no named place",
    note = "declare it on the graph struct: `#[node(workspace = \"name\")]`"
)]
pub trait Works: Node {}

/// A node that runs a child graph for each of a list of items.
pub trait Maps: Node {
    /// The child graph; it may be the node's own.
    type Child: Graph;
}

/// A node that asks a person.
pub trait Asks: Node {
    /// What the person is asked.
    type Question: Value;
    /// What the person answers.
    type Answer: Value;
}

/// A node beside the graph that reports at its exit.
pub trait Reports: Node {
    /// What it reports.
    type Report: Value;
}

/// A node that may start advisory node `Target`.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` does not spawn `{Target}`",
    label = "`{Target}` is not among the advisory nodes that `{Self}` may start",
    note = "declare it on the graph struct: `#[node(spawn({Target}))]`"
)]
pub trait Spawns<Target>: Node {
    /// The advisory node's place.
    type To: Place<Graph = Self::Graph>;
}

/// An event node that may leave the run as it is.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` may not leave the run as it is",
    label = "`resume` is not in the routing table of `{Self}`",
    note = "declare it on the graph struct: `#[node(on(Message), resume)]`, which only an `EventNode` has"
)]
pub trait Resumes: Node {}
