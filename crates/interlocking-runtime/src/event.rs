//! Events that report the progress of a run.
//!
//! An [`Event`] round-trips through serde. `--events` writes events as JSON, one a line; `docs/book/src/events.md`
//! describes that format.

mod channel;
mod transition;
#[cfg(test)]
mod json_tests;

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

/// The name of a node, a slot or a graph: borrowed from the graph's table, or owned where the event was deserialized.
pub type Name = Cow<'static, str>;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// The run that the event belongs to: the run that was started, or a child run.
    pub run: RunId,
    /// The time in milliseconds since the run that was started began, or was resumed, in this process. Child runs count
    /// from the same moment.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened. Kinds can be added, and fields to the kinds that have names for theirs: match these with `..`. Code that tests what
/// it does about events deserializes one, and so is given what it was written for.
///
/// ```
/// use interlocking::runtime::EventKind;
///
/// let json = r#"{"event":"map_started","node":"review","visit":1,"attempt":1,"items":7,"ended":2}"#;
/// let kind: EventKind = serde_json::from_str(json)?;
/// assert!(matches!(&kind, EventKind::MapStarted { node, items: 7, .. } if node.node == "review"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The run started, or was resumed.
    #[non_exhaustive]
    RunStarted {
        /// The graph's name.
        graph: Name,
        /// For a child run: its parent, and the node execution that started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Box<Origin>>,
    },
    /// A node demands isolation that the run cannot provide, and the run continues without it, as its settings allow.
    IsolationUnkept(Box<Unkept>),
    /// A node's input is complete, and the node runs.
    NodeStarted(NodeRef),
    /// A node's outcome is accepted and recorded; its successors start next.
    #[non_exhaustive]
    NodeFinished {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Where the node's step leads.
        to: Targets,
        /// How long the execution took, in milliseconds.
        took_ms: u64,
    },
    /// A node's handler has labelled the node's outcome with the sort of message that it is. The event of the outcome
    /// itself follows.
    #[non_exhaustive]
    Labelled {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The label.
        #[serde(flatten)]
        label: Box<Label>,
    },
    /// A node failed. The run fails with it, unless the node's table has a route for the failure.
    #[non_exhaustive]
    NodeFailed {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Why the node failed.
        message: String,
        /// The place that the table's route for the failure leads to; absent where the run failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Box<Name>>,
        /// How long the execution took, in milliseconds.
        took_ms: u64,
    },
    /// A node's execution was cancelled: by another node's step, or with the run.
    NodeCancelled(NodeRef),
    /// A node's execution waits for a person, or was interrupted, and the run stops without ending. When the run is
    /// resumed, the execution starts again.
    NodeSuspended(NodeRef),
    /// A node that has started waits for its turn: another node with the same `exclusive` name runs somewhere in the tree
    /// of runs.
    #[non_exhaustive]
    NodeWaits {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The `exclusive` name.
        exclusive: Name,
    },
    /// An entry beyond a node's bounds took the exhausted route.
    NodeExhausted(NodeRef),
    /// A node chose an edge that is spent, and takes the exhausted route of that edge instead.
    #[non_exhaustive]
    EdgeExhausted {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The place that the edge leads to.
        edge: Name,
    },
    /// A map node that has started has its list of items, and starts their children. A graph node that has started starts its
    /// one child.
    #[non_exhaustive]
    MapStarted {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// How many items there are; [more may be added](Self::ItemsAdded).
        items: u32,
        /// How many items have a child that had ended before, and so is not started.
        ended: u32,
    },
    /// A map node does not wait for the rest of its children, which are cancelled now.
    #[non_exhaustive]
    NodeDecided {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Whether the quorum is reached; if not, it can no longer be reached.
        reached: bool,
        /// How many of the children have succeeded.
        succeeded: u32,
        /// How many of the children have ended without success.
        failed: u32,
        /// How many of the children have not ended.
        cancelled: u32,
    },
    /// An event node that is about to finish adds items to a map.
    #[non_exhaustive]
    ItemsAdded {
        /// The event node.
        #[serde(flatten)]
        node: NodeRef,
        /// The map.
        map: Name,
        /// How many items.
        items: u32,
        /// Whether the map refuses the items, because it does not run or is done with its children.
        refused: bool,
    },
    /// A node's agent did something.
    #[non_exhaustive]
    Agent {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// What the agent did.
        agent: Box<AgentEvent>,
    },
    /// A node's handler wrote a note.
    #[non_exhaustive]
    Note {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// The note.
        text: String,
    },
    /// A message for an event node was received. Unless it was missed, no node starts until it is handled.
    #[non_exhaustive]
    Message {
        /// The event node.
        node: Name,
        /// Whether the message is lost, because its event node is transient and nothing in the run waited for a message.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missed: bool,
    },
    /// An advisory node has reported, or failed, which changes nothing for the run.
    #[non_exhaustive]
    Reported {
        /// The node.
        #[serde(flatten)]
        node: NodeRef,
        /// Why it failed, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
        /// Whether the run had ended before: the report is an addendum.
        late: bool,
    },
    /// Events were left out here, because the [receiver](Events) had not taken earlier ones. They belong to this run, or
    /// to other runs whose events go to the same receiver.
    #[non_exhaustive]
    LeftOut {
        /// How many events.
        events: u64,
    },
    /// Every live token waits for a person.
    Waiting,
    /// The run ended, or stopped and can be resumed.
    #[non_exhaustive]
    RunEnded {
        /// The outcome's [name](crate::Outcome::name).
        outcome: Name,
        /// What all agents of the run used up.
        usage: Usage,
    },
}

/// One execution of a node. These three names identify it, and there will be no others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeRef {
    /// The node's name.
    pub node: Name,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
}

/// Where a step leads. A step is a `goto` or a `fork`, so there is no third case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Targets {
    /// To one place.
    One(Name),
    /// To every branch of a fork.
    All(Box<[Name]>),
}

/// Receives events. Called from inside the executor, so it must not block.
///
/// Every closure `Fn(Event) + Send + Sync` is an event sink.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);

    /// Takes two events at once: a node has finished, and the next one starts. This is the common case, and takes one
    /// call.
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

/// Sends events to two sinks, to the first one first.
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
    /// An event of a run, this many milliseconds after its beginning. An executor makes events itself; other code makes one to test
    /// what it does about events.
    pub fn new(run: RunId, at_ms: u64, kind: EventKind) -> Self {
        Self { run, at_ms, kind }
    }

    /// How many bytes of memory the event takes, approximately.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.run.as_str().len() + self.kind.heap_size()
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

    /// The bytes that the event holds outside itself. Names are not counted: they belong to the table.
    fn heap_size(&self) -> usize {
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
