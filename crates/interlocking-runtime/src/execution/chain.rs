//! A chain of node executions, which run one after the other in one task.
//!
//! Exists for the rows "instructions a transition" and "allocations in 1,000 transitions" of `docs/book/src/performance.md`.
//! Without it every node would run as a task of its own, which costs an allocation and some 3,000 instructions.
//!
//! In a chain, a node execution has the same guards as in the executor: the cancellation check, the guard against panics,
//! timeouts, both events, the bounds of the table. It has no task, no queue and no allocation, because a lone token does not
//! need them.

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

/// What a chain without an event sink, a cancel token and timeouts needs to continue. Separate from [`Links`], because every
/// run that waits in such a chain holds one (row "bytes of a parked run" of `docs/book/src/performance.md`).
pub(crate) struct Plain<'c>(pub(crate) Solo<'c>);

/// What every other chain needs to continue.
struct Links<'c> {
    plain: Plain<'c>,
    /// `None` where no node has a timeout and nothing can stop the run.
    current_node: Option<&'c CurrentNode>,
    /// `None` where nothing can stop the run.
    cancel: Option<&'c CancelToken>,
    /// `None` where there is no event sink; then the clock is not read either.
    reporter: Option<Box<Reporter<'c>>>,
}

/// Reports the progress of a chain to the event sink.
///
/// The fields are in this order so that `transition` has the address of the whole: one address less to keep across a call (row
/// "instructions a transition").
#[repr(C)]
struct Reporter<'c> {
    /// The last transition, which led to the node that runs now.
    transition: Transition<'c>,
    sink: &'c dyn EventSink,
    clock: &'c dyn Clock,
}

/// The node that a chain has reached, until [`chain`] takes it to make the node's timer. Atomic only because the task may move
/// between threads.
pub(crate) struct CurrentNode(AtomicU16);

impl CurrentNode {
    /// No node: no net has this many.
    const NONE: NodeIndex = NodeIndex::MAX;

    pub(crate) const fn none() -> Self {
        Self(AtomicU16::new(Self::NONE))
    }

    #[inline]
    fn set(&self, node: NodeIndex) {
        self.0.store(node, Ordering::Relaxed);
    }

    /// Takes the node, if it was not taken before.
    fn take(&self) -> Option<NodeIndex> {
        let node = self.0.load(Ordering::Relaxed);
        self.0.store(Self::NONE, Ordering::Relaxed);
        (node != Self::NONE).then_some(node)
    }
}

/// Runs the execution of `solo`, which is not watched and takes `input`, and the executions that follow it. Returns the result
/// of the last one, which the frontier must handle, and how long that execution took.
pub(crate) async fn chain<G: Graph>(
    shared: &Shared<G>,
    solo: Solo<'_>,
    input: G::Token,
) -> (Completed<Done<G>>, Elapsed) {
    let untyped = &shared.services.untyped;
    let execution = solo.execution();
    let (node_slot, may_be_interrupted) =
        (CurrentNode::none(), shared.cancel().is_some() || untyped.net.features().timeouts);
    let current_node = may_be_interrupted.then_some(&node_slot);
    if let Some(current_node) = current_node {
        current_node.set(execution.node);
    }
    let reporter = untyped.settings.sink.as_deref().map(|sink| Box::new(Reporter::new(untyped, sink, execution)));
    let mut links = Links { plain: Plain(solo), current_node, cancel: shared.cancel(), reporter };
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
            if let Some(node) = current_node.and_then(CurrentNode::take) {
                waiting = interruptible(G::net().node(node).timeout, shared.cancel());
            }
            waiting.as_mut().map_or(Poll::Pending, |waiting| waiting.as_mut().poll(context).map(Err))
        })
        .await
    };
    // Without an event sink the clock is not read.
    let (now, took) = links.reporter.as_ref().map(|reporter| reporter.ended(untyped)).unwrap_or_default();
    (Completed { execution: links.plain.0.execution(), result, now }, took)
}

impl<'c> Reporter<'c> {
    /// Emits that the first execution of a chain has started.
    fn new(untyped: &'c UntypedServices, sink: &'c dyn EventSink, execution: Execution) -> Self {
        let Execution { node, visit, attempt } = execution;
        let started = untyped.now();
        let transition = Transition::new(untyped.run(), untyped.net, node, visit, attempt, untyped.started, started);
        sink.emit(transition.started());
        Self { transition, sink, clock: untyped.settings.clock() }
    }

    /// The time now, when the last execution has ended, and how long it took.
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

/// What may interrupt a node that waits; `None` if the node has no timeout and nothing can stop its run.
fn interruptible(
    limit: Option<Duration>,
    cancel: Option<&CancelToken>,
) -> Option<Pin<Box<dyn Future<Output = Interruption> + Send + '_>>> {
    // A chain is not recorded, so it asks no person, and all of its time is left.
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
            current_node.set(next.node);
        }
        if let Some(reporter) = &mut self.reporter {
            reporter.transition.go(next.node, next.visit, next.attempt, reporter.clock);
            reporter.sink.transition(&reporter.transition);
        }
        true
    }
}
