//! What an observer is told while a run goes on.

mod channel;

pub use channel::{Events, channel};

use crate::clock::{Clock, Elapsed};
use crate::isolation::Unkept;
use interlocking_agents::{AgentEvent, Usage};
use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::run_id::RunId;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Something that happened in a run.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// How long after the run's start.
    pub at: Elapsed,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The run started.
    RunStarted {
        /// The run.
        run: RunId,
        /// The graph's name.
        graph: &'static str,
    },
    /// The run goes on although a node's demand of isolation cannot be kept, as it was told to.
    IsolationUnkept(Box<Unkept>),
    /// A node's input is complete, and it runs.
    NodeStarted(NodeRef),
    /// A node's outcome is accepted and recorded; what it leads to starts now.
    NodeFinished {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The place it went to.
        to: Onward,
        /// How long it ran.
        took: Elapsed,
    },
    /// A node failed, and the run with it.
    NodeFailed {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Why.
        message: String,
        /// How long it ran.
        took: Elapsed,
    },
    /// A node's execution was cancelled by another node's step.
    NodeCancelled(NodeRef),
    /// An entry beyond a node's bounds took the exhausted route.
    NodeExhausted(NodeRef),
    /// A node's agent did something.
    Agent {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// What.
        agent: Box<AgentEvent>,
    },
    /// A node's handler said something.
    Note {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// What.
        text: String,
    },
    /// A message for an event node was taken up: no node starts until it is handled.
    Message {
        /// The event node.
        node: &'static str,
    },
    /// An advisory node has reported, or failed, which changes nothing for the run.
    Reported {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Why it failed, if it did.
        failure: Option<String>,
        /// Whether the run had ended without it: an addendum.
        late: bool,
    },
    /// So many events of agents and notes of handlers were left out here, as [whoever listens](Events) had not taken those before.
    LeftOut {
        /// How many.
        events: u64,
    },
    /// Every live token waits for a person.
    Waiting,
    /// Something happened in a child run.
    Child {
        /// The child.
        run: RunId,
        /// What.
        what: Box<Self>,
    },
    /// The run ended.
    RunEnded {
        /// The outcome's [name](crate::Outcome::name).
        outcome: &'static str,
        /// What all its agents used up.
        usage: Usage,
    },
}

/// One execution of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NodeRef {
    /// The node's name.
    pub node: &'static str,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
}

/// Where a step leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Onward {
    /// To one place.
    One(&'static str),
    /// To every branch of a fork.
    All(Box<[&'static str]>),
}

/// One token's way from a node to the next: the one finishes and the other starts, at one moment.
///
/// Kept as what the executor has at hand, nodes by index and moments by the clock: a listener that asks for no name and
/// for no time pays for neither.
#[derive(Clone, Copy)]
pub struct Hop {
    net: &'static Net,
    from: Stand,
    to: Stand,
    /// The clock's times: when the run started, when the node that finished did, and now.
    run: Elapsed,
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

/// Where events go. Called from inside the executor, so it must not block.
///
/// Any closure `Fn(Event) + Send + Sync` is one.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);

    /// Takes two events at once: a node has finished, and the next one starts. The common case, and one call for it.
    fn hop(&self, hop: &Hop) {
        self.emit(hop.finished());
        self.emit(hop.started());
    }
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    #[inline]
    fn emit(&self, event: Event) {
        self(event);
    }

    fn hop(&self, hop: &Hop) {
        self(hop.finished());
        self(hop.started());
    }
}

/// Tells two sinks, the first one first.
pub(crate) struct Both(pub(crate) Arc<dyn EventSink>, pub(crate) Arc<dyn EventSink>);

impl EventSink for Both {
    fn emit(&self, event: Event) {
        self.0.emit(event.clone());
        self.1.emit(event);
    }

    fn hop(&self, hop: &Hop) {
        self.0.hop(hop);
        self.1.hop(hop);
    }
}

impl Hop {
    /// A token that comes to `node`, a node of `net`, and has made no hop yet: from there to there, so long after the run's
    /// start, which is as the clock told it.
    pub fn new(net: &'static Net, node: NodeIndex, visit: u32, attempt: u32, run: Elapsed, at: Elapsed) -> Self {
        let (stand, now) = (Stand { visit, attempt, node }, run.plus(at));
        Self { net, from: stand, to: stand, run, started: now, now }
    }

    /// Makes this the hop after this one: from where the token stands to `node`, now as `clock` tells it.
    #[inline]
    pub fn go(&mut self, node: NodeIndex, visit: u32, attempt: u32, clock: &dyn Clock) {
        self.from = self.to;
        self.to = Stand { visit, attempt, node };
        self.started = self.now;
        // Last, when there is nothing to remember across the call.
        self.now = clock.now();
    }

    /// How long after the run's start.
    #[inline]
    pub fn at(&self) -> Elapsed {
        self.now.since(self.run)
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
        let to = Onward::One(self.net.name(self.to.node));
        Event { at: self.at(), kind: EventKind::NodeFinished { node: self.from(), to, took: self.took() } }
    }

    /// The second event.
    #[inline]
    pub fn started(&self) -> Event {
        Event { at: self.at(), kind: EventKind::NodeStarted(self.to()) }
    }

    #[inline]
    fn name(&self, Stand { visit, attempt, node }: Stand) -> NodeRef {
        NodeRef { node: self.net.name(node), visit, attempt }
    }
}

impl fmt::Debug for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hop = f.debug_struct("Hop");
        hop.field("at", &self.at()).field("from", &self.from()).field("took", &self.took());
        hop.field("to", &self.to()).finish()
    }
}

impl EventKind {
    /// The node that the event is about.
    pub fn node(&self) -> Option<NodeRef> {
        match self {
            Self::NodeStarted(node) | Self::NodeCancelled(node) | Self::NodeExhausted(node) => Some(*node),
            Self::NodeFinished { node, .. }
            | Self::NodeFailed { node, .. }
            | Self::Agent { node, .. }
            | Self::Note { node, .. }
            | Self::Reported { node, .. } => Some(*node),
            Self::RunStarted { .. }
            | Self::IsolationUnkept(_)
            | Self::RunEnded { .. }
            | Self::Message { .. }
            | Self::LeftOut { .. }
            | Self::Waiting
            | Self::Child { .. } => None,
        }
    }
}
