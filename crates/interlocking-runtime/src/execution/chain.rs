//! A chain of node executions, one after the other on one task.
//!
//! Exists for the rows "instructions a transition" and "allocations in 1,000 transitions" of `docs/book/src/performance.md`. Without it every node
//! would run as a task of its own, which costs an allocation and some 3,000 instructions.
//!
//! Everything that a node execution has in the executor it has here: the cancellation check, the guard against panics,
//! timeouts, both events, the bounds of the table. What is missing is what a lone token does not need: no task, no
//! queue, and no allocation.

use crate::cancel::CancelToken;
use crate::clock::{Clock, Elapsed};
use crate::context::services::UntypedServices;
use crate::event::{EventSink, Transition};
use crate::execution::completions::Completed;
use crate::execution::guard::{Limit, interruption, may_be_traced};
use crate::execution::interruption::{Interruption, poll_caught};
use crate::execution::shared::Shared;
use interlocking_core::context::Entered;
use interlocking_core::frontier::{Execution, Solo};
use interlocking_core::graph::{Done, Graph, Relay};
use interlocking_core::net::{AlternativeIndex, NodeIndex, PlaceIndex};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU16, Ordering};
use std::task::Poll;
use std::time::Duration;

/// What a chain needs to go on that has no event sink, no cancel token and no node with a timeout. Apart from [`Links`], because every
/// run that waits in such a chain holds one (row "bytes of a parked run" of `docs/book/src/performance.md`).
pub(crate) struct Plain<'c>(pub(crate) Solo<'c>);

/// What any other chain needs to go on.
struct Links<'c> {
    plain: Plain<'c>,
    /// Absent where no node has a timeout and nothing stops the run.
    current_node: Option<&'c CurrentNode>,
    /// Absent where nothing can stop the run.
    cancel: Option<&'c CancelToken>,
    /// Absent where there is no event sink; then the clock is not read either.
    heard: Option<Box<Heard<'c>>>,
}

/// How the event sink is told of a chain.
///
/// In this order, so that `transition` has the address of the whole: one less to keep across a call (row "instructions a transition").
#[repr(C)]
struct Heard<'c> {
    /// The last transition: it ends at the node that runs.
    transition: Transition<'c>,
    sink: &'c dyn EventSink,
    clock: &'c dyn Clock,
}

/// The node that a chain has come to, until [`chain`] has made the timer for it. Atomic only because the task may move between threads.
pub(crate) struct CurrentNode(AtomicU16);

impl CurrentNode {
    /// No node, because no net has as many.
    const SEEN: NodeIndex = NodeIndex::MAX;

    pub(crate) const fn nowhere() -> Self {
        Self(AtomicU16::new(Self::SEEN))
    }

    #[inline]
    fn come_to(&self, node: NodeIndex) {
        self.0.store(node, Ordering::Relaxed);
    }

    /// The node, if it has not been seen.
    fn see(&self) -> Option<NodeIndex> {
        let node = self.0.load(Ordering::Relaxed);
        self.0.store(Self::SEEN, Ordering::Relaxed);
        (node != Self::SEEN).then_some(node)
    }
}

/// Runs the execution that `solo` stands on, which is not watched and takes `input`, and those that it leads to. Gives what the last
/// one came to, which the frontier must look at, and how long that took.
pub(crate) async fn chain<G: Graph>(
    shared: &Shared<G>,
    solo: Solo<'_>,
    input: G::Token,
) -> (Completed<Done<G>>, Elapsed) {
    let untyped = &shared.services.untyped;
    let execution = solo.execution();
    let (nowhere, may_be_interrupted) =
        (CurrentNode::nowhere(), shared.cancel().is_some() || untyped.net.features().timeouts);
    let current_node = may_be_interrupted.then_some(&nowhere);
    if let Some(current_node) = current_node {
        current_node.come_to(execution.node);
    }
    let heard = untyped.settings.sink.as_deref().map(|sink| Box::new(Heard::new(untyped, sink, execution)));
    let mut links = Links { plain: Plain(solo), current_node, cancel: shared.cancel(), heard };
    let result = if links.is_cancelled() {
        Err(Interruption::Cancelled)
    } else {
        let entered = Entered { services: &shared.services, execution };
        let mut chain = pin!(shared.services.graph.chain(input, entered, &mut links));
        let mut waiting = None;
        poll_fn(move |context| {
            if let Poll::Ready(ended) = poll_caught(chain.as_mut(), context) {
                return Poll::Ready(ended);
            }
            if let Some(node) = current_node.and_then(CurrentNode::see) {
                waiting = interruptible(G::net().node(node).timeout, shared.cancel());
            }
            waiting.as_mut().map_or(Poll::Pending, |waiting| waiting.as_mut().poll(context).map(Err))
        })
        .await
    };
    // Nobody asks for the time where nobody listens.
    let (now, took) = links.heard.as_ref().map(|heard| heard.ended(untyped)).unwrap_or_default();
    (Completed { execution: links.plain.0.execution(), result, now }, took)
}

impl<'c> Heard<'c> {
    /// Says that the first execution of a chain has started.
    fn new(untyped: &'c UntypedServices, sink: &'c dyn EventSink, execution: Execution) -> Self {
        let Execution { node, visit, attempt } = execution;
        let started = untyped.now();
        let transition = Transition::new(untyped.run(), untyped.net, node, visit, attempt, untyped.started, started);
        sink.emit(transition.started());
        Self { transition, sink, clock: untyped.settings.clock() }
    }

    /// When the last execution ended, which is now, and how long it took.
    fn ended(&self, untyped: &UntypedServices) -> (Elapsed, Elapsed) {
        let now = untyped.now();
        (now, now.since(self.transition.at()))
    }
}

impl Links<'_> {
    #[inline]
    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled)
    }
}

/// What may interrupt a node that waits; nothing if it may take any time, and nothing can stop its run.
fn interruptible(
    limit: Option<Duration>,
    cancel: Option<&CancelToken>,
) -> Option<Pin<Box<dyn Future<Output = Interruption> + Send + '_>>> {
    // A chain is recorded nowhere, so it asks nobody: all of its time is left.
    let limit = limit.map(|whole| Limit { whole, left: whole });
    match (limit, cancel) {
        (None, None) => None,
        (limit @ Some(_), None) => Some(Box::pin(interruption(limit, pending()))),
        (limit, Some(cancel)) => Some(Box::pin(interruption(limit, cancel.cancelled()))),
    }
}

impl Relay for Plain<'_> {
    #[inline]
    fn relay(&mut self, alternative: AlternativeIndex, place: PlaceIndex, execution: &mut Execution) -> bool {
        if may_be_traced() {
            return false;
        }
        let Some(next) = self.0.relay(alternative, place) else { return false };
        *execution = next;
        true
    }
}

impl Relay for Links<'_> {
    fn relay(&mut self, alternative: AlternativeIndex, place: PlaceIndex, execution: &mut Execution) -> bool {
        if self.is_cancelled() || !self.plain.relay(alternative, place, execution) {
            return false;
        }
        let next = *execution;
        if let Some(current_node) = self.current_node {
            current_node.come_to(next.node);
        }
        if let Some(heard) = &mut self.heard {
            heard.transition.go(next.node, next.visit, next.attempt, heard.clock);
            heard.sink.transition(&heard.transition);
        }
        true
    }
}
