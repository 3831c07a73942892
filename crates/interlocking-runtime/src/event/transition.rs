//! One token's way from a node to the next.

use super::{Event, EventKind, NodeRef, Targets};
use crate::clock::{Clock, Elapsed};
use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::run_id::RunId;
use std::borrow::Cow;
use std::fmt;

/// One token's way from a node to the next: the one finishes and the other starts, at one moment.
///
/// Kept as what the executor has at hand, nodes by index and moments by the clock: a listener that asks for no name and
/// for no time pays for neither.
#[derive(Clone, Copy)]
pub struct Transition<'run> {
    run: &'run RunId,
    net: &'static Net,
    from: Stand,
    to: Stand,
    /// The clock's times: when the run began, when the node that finished did, and now.
    began: Elapsed,
    started: Elapsed,
    now: Elapsed,
}

/// Where a token stands. Aligned so that it is moved as one.
#[repr(align(16))]
#[derive(Clone, Copy)]
struct Stand {
    visit: u32,
    attempt: u32,
    node: NodeIndex,
}

impl<'run> Transition<'run> {
    /// A token of `run` that comes to `node`, a node of `net`, and has made no transition yet: from there to there. The run began
    /// when the clock told `began`, and the token came `at` after that. Made by the executor.
    #[doc(hidden)]
    pub fn new(
        run: &'run RunId,
        net: &'static Net,
        node: NodeIndex,
        visit: u32,
        attempt: u32,
        began: Elapsed,
        at: Elapsed,
    ) -> Self {
        let (stand, now) = (Stand { visit, attempt, node }, began.plus(at));
        Self { run, net, from: stand, to: stand, began, started: now, now }
    }

    /// Makes this the next transition: from where the token stands to `node`, now as `clock` tells it.
    #[doc(hidden)]
    #[inline]
    pub fn go(&mut self, node: NodeIndex, visit: u32, attempt: u32, clock: &dyn Clock) {
        self.from = self.to;
        self.to = Stand { visit, attempt, node };
        self.started = self.now;
        // Last, when there is nothing to remember across the call.
        self.now = clock.now();
    }

    /// The run.
    #[inline]
    pub fn run(&self) -> &'run RunId {
        self.run
    }

    /// How long after the run's beginning.
    #[inline]
    pub fn at(&self) -> Elapsed {
        self.now.since(self.began)
    }

    /// How long the node that finished ran.
    #[inline]
    pub fn took(&self) -> Elapsed {
        self.now.since(self.started)
    }

    /// The node that finished.
    #[inline]
    pub fn from(&self) -> NodeRef {
        self.name(self.from)
    }

    /// The node that starts.
    #[inline]
    pub fn to(&self) -> NodeRef {
        self.name(self.to)
    }

    /// The first event.
    #[inline]
    pub fn finished(&self) -> Event {
        let to = Targets::One(Cow::Borrowed(self.net.name(self.to.node)));
        self.event(EventKind::NodeFinished { node: self.from(), to, took_ms: self.took().as_millis() })
    }

    /// The second event.
    #[inline]
    pub fn started(&self) -> Event {
        self.event(EventKind::NodeStarted(self.to()))
    }

    #[inline]
    fn event(&self, kind: EventKind) -> Event {
        Event { run: self.run.clone(), at_ms: self.at().as_millis(), kind }
    }

    #[inline]
    fn name(&self, Stand { visit, attempt, node }: Stand) -> NodeRef {
        NodeRef { node: Cow::Borrowed(self.net.name(node)), visit, attempt }
    }
}

impl fmt::Debug for Transition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut transition = f.debug_struct("Transition");
        transition
            .field("run", self.run)
            .field("at", &self.at())
            .field("from", &self.from())
            .field("took", &self.took());
        transition.field("to", &self.to()).finish()
    }
}
