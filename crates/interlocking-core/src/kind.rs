//! Node kinds: what a field's type says of how the node runs.

use crate::context::Cx;
use crate::graph::{Forks, Node};
use crate::route::Route;
use std::future::Future;

/// How nodes of one kind run their handler. New kinds implement this, and no derived code changes.
#[diagnostic::on_unimplemented(
    message = "the field's type cannot run node `{N}`",
    label = "implement the handler trait of this kind for node `{N}`"
)]
pub trait Kind<N: Node>: Send + Sync {
    /// Runs the node once.
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// A node whose handler is plain async Rust.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogicNode<H>(pub H);

/// A node that continues on all of its branches.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForkNode<H>(pub H);

/// A node that fires once when every slot has a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct JoinNode<H>(pub H);

/// A node that handles a message from outside while the rest of the graph is paused.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventNode<H>(pub H);

/// The handler of a [`LogicNode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle logic node `{N}`",
    label = "missing `impl LogicHandler<{N}> for {Self}`"
)]
pub trait LogicHandler<N: Node>: Send + Sync {
    /// Does the node's work and says where to go next.
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// The handler of a [`ForkNode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle fork node `{N}`",
    label = "missing `impl ForkHandler<{N}> for {Self}`"
)]
pub trait ForkHandler<N: Forks>: Send + Sync {
    /// Makes one payload a branch: `fork!(cx, (a, b))`.
    fn fork(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// The handler of a [`JoinNode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle join node `{N}`",
    label = "missing `impl JoinHandler<{N}> for {Self}`"
)]
pub trait JoinHandler<N: Node>: Send + Sync {
    /// Takes one value a slot, in table order, and says where to go next.
    fn join(&self, slots: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// The handler of an [`EventNode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle event node `{N}`",
    label = "missing `impl EventHandler<{N}> for {Self}`"
)]
pub trait EventHandler<N: Node>: Send + Sync {
    /// Handles one message: leaves the run as it is, `cx.resume()`, or redirects it with `goto!`.
    fn handle(&self, message: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

impl<N: Node, H: LogicHandler<N>> Kind<N> for LogicNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.run(input, cx)
    }
}

impl<N: Forks, H: ForkHandler<N>> Kind<N> for ForkNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.fork(input, cx)
    }
}

impl<N: Node, H: JoinHandler<N>> Kind<N> for JoinNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.join(input, cx)
    }
}

impl<N: Node, H: EventHandler<N>> Kind<N> for EventNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.handle(input, cx)
    }
}

/// Goes to a node: `goto!(cx, graph::node, payload)`, to this node again: `goto!(cx, self, payload)`.
///
/// Only nodes in the routing table of the node that `cx` belongs to compile, and only with the payload they take.
#[macro_export]
macro_rules! goto {
    ($cx:expr, self, $payload:expr $(,)?) => {
        $cx.goto_self($payload)
    };
    ($cx:expr, $target:ty, $payload:expr $(,)?) => {
        $cx.goto::<$target>($payload)
    };
}

/// Continues on all branches of the node's fork: `fork!(cx, (first, second))`, one payload a branch in table order.
///
/// A branch that may choose among several targets takes `cx.branch::<graph::target>(payload)`.
#[macro_export]
macro_rules! fork {
    ($cx:expr, $branches:expr $(,)?) => {
        $cx.fork($branches)
    };
}
