//! What an observer is told while a run goes on.
//!
//! An [`Event`] round-trips through serde. Written as JSON, one a line, it is what `--events` writes; `docs/book/src/events.md` describes that.

mod channel;
mod transition;
#[cfg(test)]
mod json;

pub(crate) use channel::Broadcast;
pub use channel::{Events, channel};
pub use transition::Transition;

use crate::journal::Origin;
use crate::workspaces::unkept::Unkept;
use interlocking_agents::{AgentEvent, Usage};
use interlocking_core::context::Label;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// A name out of a graph's table, of a node, a slot or the graph: borrowed from the table, or owned where the event was read.
pub type Name = Cow<'static, str>;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The run that it happened in: the one that was started, or a child run.
    pub run: RunId,
    /// When: milliseconds since the run that was started began, or was resumed, in this process. Child runs count from there, too.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The run started, or was resumed.
    RunStarted {
        /// The graph's name.
        graph: Name,
        /// Of a child run: whose child it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Box<Origin>>,
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
        to: Targets,
        /// How many milliseconds it ran.
        took_ms: u64,
    },
    /// The handler of a node that finishes now says what sort of message its outcome is.
    Labelled {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The label.
        #[serde(flatten)]
        label: Box<Label>,
    },
    /// A node failed, and the run with it, unless the node's table says where it goes then.
    NodeFailed {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Why.
        message: String,
        /// The place that it went to, along the route that its table has for that; absent where the run failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Box<Name>>,
        /// How many milliseconds it ran.
        took_ms: u64,
    },
    /// A node's execution was cancelled: by another node's step, or with the run.
    NodeCancelled(NodeRef),
    /// A node's execution waits for a person, or was interrupted, and the run stops where it stands. Once the run is resumed, the
    /// execution starts again.
    NodeSuspended(NodeRef),
    /// A node that has started waits for its turn: another one of the same `exclusive` name runs, somewhere in the tree of runs.
    NodeWaits {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The name.
        exclusive: Name,
    },
    /// An entry beyond a node's bounds took the exhausted route.
    NodeExhausted(NodeRef),
    /// A node chose an edge that is spent, and takes the exhausted route of that edge instead.
    EdgeExhausted {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The place where the edge leads.
        edge: Name,
    },
    /// A map node that has started knows its items, and starts their children.
    MapStarted {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// How many there are; [more may be added](Self::ItemsAdded).
        items: u32,
        /// How many of their children had ended before, so that they are not started.
        ended: u32,
    },
    /// A map node need not wait for the rest of its children, which are cancelled now.
    NodeDecided {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Whether its quorum is reached; otherwise it no longer can be.
        reached: bool,
        /// How many of its children have succeeded.
        succeeded: u32,
        /// How many have not.
        failed: u32,
        /// How many have not ended.
        cancelled: u32,
    },
    /// An event node that finishes now adds items to a map.
    ItemsAdded {
        /// The event node.
        #[serde(flatten)]
        node: NodeRef,
        /// The map.
        map: Name,
        /// How many.
        items: u32,
        /// Whether the map takes none, because it does not run, or has come to the end of its children.
        refused: bool,
    },
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
    /// A message for an event node was received: no node starts until it is handled, unless it was missed.
    Message {
        /// The event node.
        node: Name,
        /// Whether nobody waited for it, and its node is transient: then it is lost.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missed: bool,
    },
    /// An advisory node has reported, or failed, which changes nothing for the run.
    Reported {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Why it failed, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
        /// Whether the run had ended without it: an addendum.
        late: bool,
    },
    /// So many events, of this run or of others that are told together with it, were left out here, as [whoever listens](Events)
    /// had not taken those before.
    LeftOut {
        /// How many.
        events: u64,
    },
    /// Every live token waits for a person.
    Waiting,
    /// The run ended, or stops where it stands.
    RunEnded {
        /// The outcome's [name](crate::Outcome::name).
        outcome: Name,
        /// What all its agents used up.
        usage: Usage,
    },
}

/// One execution of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeRef {
    /// The node's name.
    pub node: Name,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
}

/// Where a step leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Targets {
    /// To one place.
    One(Name),
    /// To every branch of a fork.
    All(Box<[Name]>),
}

/// Where events go. Called from inside the executor, so it must not block.
///
/// Any closure `Fn(Event) + Send + Sync` is one.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);

    /// Takes two events at once: a node has finished, and the next one starts. The common case, and one call for it.
    fn transition(&self, transition: &Transition<'_>) {
        self.emit(transition.finished());
        self.emit(transition.started());
    }
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    #[inline]
    fn emit(&self, event: Event) {
        self(event);
    }

    fn transition(&self, transition: &Transition<'_>) {
        self(transition.finished());
        self(transition.started());
    }
}

/// Tells two sinks, the first one first.
pub(crate) struct Both(pub(crate) Arc<dyn EventSink>, pub(crate) Arc<dyn EventSink>);

impl EventSink for Both {
    fn emit(&self, event: Event) {
        self.0.emit(event.clone());
        self.1.emit(event);
    }

    fn transition(&self, transition: &Transition<'_>) {
        self.0.transition(transition);
        self.1.transition(transition);
    }
}

impl Event {
    /// About how many bytes of memory it takes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.run.as_str().len() + self.kind.held()
    }
}

impl EventKind {
    /// The node that the event is about.
    pub fn node(&self) -> Option<&NodeRef> {
        match self {
            Self::NodeStarted(node)
            | Self::NodeCancelled(node)
            | Self::NodeSuspended(node)
            | Self::NodeExhausted(node)
            | Self::NodeWaits { node, .. }
            | Self::NodeFinished { node, .. }
            | Self::NodeFailed { node, .. }
            | Self::EdgeExhausted { node, .. }
            | Self::MapStarted { node, .. }
            | Self::NodeDecided { node, .. }
            | Self::ItemsAdded { node, .. }
            | Self::Agent { node, .. }
            | Self::Note { node, .. }
            | Self::Labelled { node, .. }
            | Self::Reported { node, .. } => Some(node),
            Self::RunStarted { .. }
            | Self::IsolationUnkept(_)
            | Self::RunEnded { .. }
            | Self::Message { .. }
            | Self::LeftOut { .. }
            | Self::Waiting => None,
        }
    }

    /// What it holds beside itself; names are the table's.
    fn held(&self) -> usize {
        match self {
            Self::Agent { agent, .. } => agent.size(),
            Self::Note { text: words, .. }
            | Self::NodeFailed { message: words, .. }
            | Self::Reported { failure: Some(words), .. } => words.len(),
            Self::NodeFinished { to: Targets::All(places), .. } => size_of_val(&**places),
            Self::Labelled { label, .. } => {
                size_of::<Label>() + label.ty.len() + label.route_hint.as_ref().map_or(0, String::len)
            }
            Self::IsolationUnkept(unkept) => size_of::<Unkept>() + unkept.reason.len(),
            Self::RunStarted { origin: Some(_), .. } => size_of::<Origin>(),
            _ => 0,
        }
    }
}
