//! Requests to the agent, its answers, and the results for the nodes that asked.

use interlocking_agents::Usage;
use interlocking_core::failure::NodeError;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::By;
use interlocking_runtime::llm::Prompt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The prompt of every node: the execution that asks, and its input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asking {
    pub(crate) level: usize,
    pub(crate) run: RunId,
    pub(crate) by: By,
    pub(crate) input: Vec<u64>,
}

/// The output of every agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Said {
    pub(crate) number: u64,
}

impl Prompt for Asking {
    fn render(&self) -> Result<String, NodeError> {
        Ok(serde_json::to_string(self)?)
    }
}

/// The result of a turn, for the node that asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    pub(crate) run: RunId,
    pub(crate) by: By,
    pub(crate) usage: Usage,
    /// Correction rounds and reminders, if there was an answer.
    pub(crate) rounds: Option<(u32, u32)>,
}
