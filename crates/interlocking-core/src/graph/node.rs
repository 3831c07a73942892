//! A node, the places that its edges lead to, and what its row of the table lets it do: one trait each.

use super::definition::Graph;
use super::value::{Memory, Value};
use crate::context::Cx;
use crate::net::{AlternativeIndex, NodeIndex};
use crate::route::Route;

/// A node: a marker type with the field's name, which stands for the node in types.
pub trait Node: Sized + Send + 'static {
    /// The graph it is a node of.
    type Graph: Graph;
    /// The value it takes: its input, or the tuple of its slots.
    type Input: Send + Sync + 'static;
    /// Its position in the table.
    const INDEX: NodeIndex;

    /// Takes the input out of a token for this node.
    ///
    /// # Panics
    ///
    /// If the token is for another node.
    fn take(token: <Self::Graph as Graph>::Token) -> Self::Input;
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

/// A place where a run begins or ends. Its payload is the graph's own [`Entry`](Graph::Entry) or
/// [`Output`](Graph::Output), so that the compiler reports a type that is no [`Value`] once, where the graph names it.
#[doc(hidden)]
pub trait EndPlace: Sized + 'static {
    /// The graph it is a place of.
    type Graph: Graph;
    /// Which end of a run.
    type End: End<Self::Graph>;

    /// A token that lies here.
    fn put(payload: <Self::End as End<Self::Graph>>::Payload) -> <Self::Graph as Graph>::Token;
}

/// An end of the runs of `G`.
#[doc(hidden)]
pub trait End<G: Graph> {
    /// The payload at that end.
    type Payload: Value;
}

/// Where a run begins.
#[doc(hidden)]
#[derive(Debug)]
pub enum Beginning {}

/// Where a run ends.
#[doc(hidden)]
#[derive(Debug)]
pub enum Ending {}

impl<G: Graph> End<G> for Beginning {
    type Payload = G::Entry;
}

impl<G: Graph> End<G> for Ending {
    type Payload = G::Output;
}

#[diagnostic::do_not_recommend]
impl<P: EndPlace> Place for P {
    type Graph = P::Graph;
    type Payload = <P::End as End<P::Graph>>::Payload;

    fn put(payload: Self::Payload) -> <Self::Graph as Graph>::Token {
        <P as EndPlace>::put(payload)
    }
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
    /// One payload per branch, in table order.
    type Branches;
    /// Which alternative of the net the fork is.
    const ALTERNATIVE: AlternativeIndex;

    /// Makes one token per branch.
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

/// A node that runs child graphs: a map node or a graph node.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` runs no child graph",
    label = "`{Self}` is neither a map node nor a graph node",
    note = "name one that is: `#[node(map = Child)]` or `#[node(graph = Child)]`"
)]
pub trait RunsChildren: Node {}

/// A node that runs a child graph for each of a list of items.
pub trait Maps: Node {
    /// The child graph; it may be the node's own.
    type Child: Graph;
    /// What decides when the node stops waiting for the rest of its children: [`Counted`] or [`Judged`].
    type Quorum;
}

/// A map node that waits for all of its children, or for as many successes as its table says.
pub enum Counted {}

/// A map node whose handler decides when it has enough results.
pub enum Judged {}

/// A node that runs a child graph once.
pub trait Runs: Node {
    /// The child graph; it may be the node's own.
    type Child: Graph;
    /// What decides the child's entry and the route of its output: [`Handled`] or [`PassedOn`].
    type By;
}

/// A graph node whose handler decides what the child starts with, and where its output goes.
pub enum Handled {}

/// A graph node without a handler: the child starts with the node's input, and its output goes to the one target.
pub enum PassedOn {}

/// A graph node without a handler.
pub trait PassesOn: Runs {
    /// What the child starts with.
    fn entry(input: Self::Input) -> <Self::Child as Graph>::Entry;

    /// The route that takes the child's output.
    ///
    /// # Errors
    ///
    /// None: the [`Route`] is what a handler returns.
    fn go_on(output: <Self::Child as Graph>::Output, cx: &Cx<'_, Self>) -> Route<Self>;
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

/// An event node that may add items to map node `Map`.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` adds no items to `{Map}`",
    label = "`{Map}` is not among the maps to which `{Self}` may add",
    note = "declare it on the graph struct: `#[node(on(Message), adds_to({Map}))]`, which only an `EventNode` has"
)]
pub trait AddsTo<Map>: Node {}

/// An event node that may leave the run as it is.
#[diagnostic::on_unimplemented(
    message = "node `{Self}` may not leave the run as it is",
    label = "`resume` is not in the routing table of `{Self}`",
    note = "declare it on the graph struct: `#[node(on(Message), resume)]`, which only an `EventNode` has"
)]
pub trait Resumes: Node {}
