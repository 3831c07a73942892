//! Targets and kinds as text.

use super::{NodeKind, Target};
use std::fmt;

impl From<&str> for Target {
    fn from(text: &str) -> Self {
        match text.split_once('.') {
            Some((node, slot)) => Self { node: node.into(), slot: Some(slot.into()) },
            None => Self { node: text.into(), slot: None },
        }
    }
}

impl From<String> for Target {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.slot {
            Some(slot) => write!(f, "{}.{slot}", self.node),
            None => f.write_str(&self.node),
        }
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Llm => "LLMNode",
            Self::Logic => "LogicNode",
            Self::Fork => "ForkNode",
            Self::Join => "JoinNode",
            Self::Map => "MapNode",
            Self::Graph => "GraphNode",
            Self::Human => "HumanNode",
            Self::Advisory => "AdvisoryNode",
            Self::Observer => "ObserverNode",
            Self::Event => "EventNode",
        })
    }
}
