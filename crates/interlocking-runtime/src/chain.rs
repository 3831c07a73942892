//! A chain of node executions, one after the other on one task: the common case, and the quick one.
//!
//! Everything that a node execution has in the executor it has here: the cancellation check, the guard against panics,
//! timeouts, both events, the bounds of the table. What is missing is what a lone token does not need: no task, no
//! queue, and no allocation.

use crate::cancel::Cancel;
use crate::clock::{Clock, Elapsed};
use crate::event::{Event, EventKind, EventSink, Hop};
use crate::perform::{Interruption, Stop, interruption, may_be_traced};
use crate::services::RunServices;
use interlocking_core::context::Entered;
use interlocking_core::frontier::{Execution, Solo};
use interlocking_core::graph::{Done, Graph, Relay};
use interlocking_core::net::{AlternativeIndex, NodeIndex, PlaceIndex};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Where a chain ends: with an execution whose outcome the frontier must look at.
pub(crate) struct Chained<G: Graph> {
    pub(crate) execution: Execution,
    pub(crate) result: Result<Done<G>, Stop>,
    pub(crate) now: Elapsed,
    pub(crate) took: Elapsed,
}

/// What lets a chain go on.
///
/// In this order, so that the listener is given the address of the whole: one less to keep across a call.
#[repr(C)]
struct Links<'c> {
    /// The last hop; its end is where the chain stands.
    hop: Hop,
    solo: Solo<'c>,
    place: &'c Standing,
    sink: &'c dyn EventSink,
    clock: &'c dyn Clock,
    cancelled: &'c AtomicBool,
}

/// The node that a chain has come to, until whoever waits with it has seen it: atomic only because the waiting task may
/// move between threads.
struct Standing(AtomicU16);

impl Standing {
    /// No node: no net has as many.
    const SEEN: NodeIndex = NodeIndex::MAX;

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

/// Runs the execution that `solo` stands on, which is not watched, and those that it leads to.
pub(crate) async fn chain<G: Graph>(
    graph: &G,
    services: &RunServices<G>,
    cancel: Option<&Cancel>,
    solo: Solo<'_>,
    input: G::Token,
    started: Elapsed,
) -> Chained<G> {
    let backstage = &services.backstage;
    let execution = solo.execution();
    let Execution { node, visit, attempt, .. } = execution;
    backstage.emit_at(started, || EventKind::NodeStarted(backstage.node(execution)));
    let place = Standing(AtomicU16::new(node));
    let mut links = Links {
        solo,
        hop: Hop::new(backstage.net, node, visit, attempt, backstage.started, started),
        place: &place,
        sink: backstage.settings.sink.as_deref().unwrap_or(&Nobody),
        clock: backstage.settings.clock(),
        cancelled: cancel.map_or(&NEVER, Cancel::flag),
    };
    let result = if links.cancelled.load(Ordering::Acquire) {
        Err(Interruption::Cancelled)
    } else {
        let mut chain = pin!(graph.chain(input, Entered { services, execution }, &mut links));
        let mut waiting = None;
        poll_fn(|context| {
            // One guard for all that runs without waiting: a panic is that of the node where the chain then stands.
            match catch_unwind(AssertUnwindSafe(|| chain.as_mut().poll(context))) {
                Ok(Poll::Ready(done)) => return Poll::Ready(Ok(done)),
                Ok(Poll::Pending) => {}
                Err(panic) => return Poll::Ready(Err(Interruption::Panicked(panic))),
            }
            if let Some(node) = place.see() {
                waiting = interruptible(backstage.net.node(node).timeout, cancel);
            }
            waiting.as_mut().map_or(Poll::Pending, |waiting| waiting.as_mut().poll(context).map(Err))
        })
        .await
    };
    let (execution, now) = (links.solo.execution(), backstage.now());
    let result = result.map_err(|interruption| interruption.into_stop(services, execution));
    Chained { execution, result, now, took: now.since(links.hop.at()) }
}

/// For a run that nothing can stop.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What may interrupt a node that waits; nothing if it may take any time, and nothing can stop its run.
fn interruptible(
    limit: Option<Duration>,
    cancel: Option<&Cancel>,
) -> Option<Pin<Box<dyn Future<Output = Interruption> + Send + '_>>> {
    match (limit, cancel) {
        (None, None) => None,
        (Some(_), None) => Some(Box::pin(interruption(limit, pending()))),
        (_, Some(cancel)) => Some(Box::pin(interruption(limit, cancel.requested()))),
    }
}

/// Listens where nobody does: quicker than to ask each time.
struct Nobody;

impl EventSink for Nobody {
    fn emit(&self, _: Event) {}

    fn hop(&self, _: &Hop) {}
}

impl Relay for Links<'_> {
    fn relay(&mut self, alternative: AlternativeIndex, place: PlaceIndex, execution: &mut Execution) -> bool {
        if may_be_traced() || self.cancelled.load(Ordering::Acquire) {
            return false;
        }
        let Some(next) = self.solo.relay(alternative, place) else { return false };
        *execution = next;
        self.place.come_to(next.node);
        self.hop.go(next.node, next.visit, next.attempt, self.clock);
        self.sink.hop(&self.hop);
        true
    }
}
