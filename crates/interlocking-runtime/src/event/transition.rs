//! The transition of a token from one node to the next.

use super::{Event, EventKind, NodeRef, Targets};
use crate::clock::{Clock, Elapsed};
use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::run_id::RunId;
use std::borrow::Cow;
use std::fmt;

/// The transition of a token from one node to the next: the first node finishes and the second one starts at the same moment.
///
/// It has what the executor has at hand, which is nodes as indices and times as the clock gave them, so that a listener that
/// needs neither names nor times does not pay for them.
#[derive(Clone, Copy)]
pub struct Transition<'run> {
    run: &'run RunId,
    net: &'static Net,
    from: Stand,
    to: Stand,
    /// When the run began, by the clock.
    began: Elapsed,
    /// When the node that finishes started, by the clock.
    started: Elapsed,
    /// When the transition happens, by the clock.
    now: Elapsed,
}

/// The position of a token. Aligned so that it is moved as one value.
#[repr(align(16))]
#[derive(Clone, Copy)]
struct Stand {
    visit: u32,
    attempt: u32,
    node: NodeIndex,
}

impl<'run> Transition<'run> {
    /// The state before the first transition of a token of `run`, which enters `node` of `net`: from that node to that node.
    /// `began` is the clock's time when the run began, and `at` is the time from then until the token enters. Made by the
    /// executor.
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

    /// Makes this the next transition: from the token's present node to `node`, at the present time of `clock`.
    #[doc(hidden)]
    #[inline]
    pub fn go(&mut self, node: NodeIndex, visit: u32, attempt: u32, clock: &dyn Clock) {
        self.from = self.to;
        self.to = Stand { visit, attempt, node };
        self.started = self.now;
        // The call comes last, so that no values need to be saved across it.
        self.now = clock.now();
    }

    /// The run.
    #[inline]
    pub fn run(&self) -> &'run RunId {
        self.run
    }

    /// The time of the transition since the run began.
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

    /// The event that the first node has finished.
    #[inline]
    pub fn finished(&self) -> Event {
        let to = Targets::One(Cow::Borrowed(self.net.name(self.to.node)));
        self.event(EventKind::NodeFinished { node: self.from(), to, took_ms: self.took().as_millis() })
    }

    /// The event that the second node starts.
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
