//! What an observer is told while a run goes on.

use crate::clock::Elapsed;
use interlocking_agents::{AgentEvent, Usage};
use interlocking_core::run_id::RunId;
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::mpsc;

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
    /// The run ended.
    RunEnded {
        /// `finished`, `failed` or `cancelled`.
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

/// Where events go. Called from inside the executor, so it must not block.
///
/// Any closure `Fn(Event) + Send + Sync` is one.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    fn emit(&self, event: Event) {
        self(event);
    }
}

/// The events of a run, in order, as a stream.
#[derive(Debug)]
pub struct Events(mpsc::UnboundedReceiver<Event>);

/// A sink, and the stream that it feeds. The stream ends when the run and its settings are gone.
pub fn channel() -> (Arc<dyn EventSink>, Events) {
    let (sender, receiver) = mpsc::unbounded_channel();
    // Nobody listening is no reason to stop a run.
    let sink = move |event| drop(sender.send(event));
    (Arc::new(sink), Events(receiver))
}

impl Events {
    /// The next event; `None` once there will be no more.
    pub async fn next(&mut self) -> Option<Event> {
        self.0.recv().await
    }

    /// The next event, if there is one already.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.try_recv().ok()
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
            | Self::Note { node, .. } => Some(*node),
            Self::RunStarted { .. } | Self::RunEnded { .. } => None,
        }
    }
}
