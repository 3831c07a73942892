//! How an agent is told to follow a protocol.

use crate::prompt::{Prompt, PromptKind};
use serde_json::{Map, Value, json};
use std::num::NonZeroU32;

/// Tells an agent to implement a prompt: `debugging` for a debug prompt, `implementation` for any other.
pub fn for_prompt(prompt: &Prompt) -> String {
    let protocol = match prompt.kind {
        PromptKind::Debug => "debugging",
        PromptKind::Implementation => "implementation",
    };
    let mut inputs = Map::new();
    inputs.insert("prompt_num".to_owned(), json!(prompt.number));
    if let Some(variant) = prompt.variant {
        inputs.insert("variant".to_owned(), json!(variant));
    }
    inputs.insert("feature_branch".to_owned(), json!(prompt.feature_branch));
    told(protocol, inputs)
}

/// An approach that is handed back to be refined.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ApproachReference {
    /// The specialist who wrote it.
    pub specialist_name: String,
    /// Its number.
    pub approach_num: u32,
}

/// Tells a specialist to discover approaches for one segment of a feature's requirements. Where several of a kind work at
/// once, `instance` tells them apart: `backend_2`.
pub fn for_discovery(
    specialist: &str,
    instance: Option<NonZeroU32>,
    segment_context: &str,
    references: &[ApproachReference],
) -> String {
    let name = instance.map_or_else(|| specialist.to_owned(), |instance| format!("{specialist}_{instance}"));
    let mut inputs = Map::new();
    inputs.insert("agent_name".to_owned(), json!(name));
    inputs.insert("segment_context".to_owned(), json!(segment_context));
    if !references.is_empty() {
        inputs.insert("approach_references".to_owned(), json!(references));
    }
    told("discovery", inputs)
}

fn told(protocol: &str, inputs: Map<String, Value>) -> String {
    let mut inputs = Value::Object(inputs);
    // Whether a map sorts its keys depends on what else the program is made of; what an agent is told must not.
    inputs.sort_all_objects();
    format!("Run `envoy protocol {protocol}` and follow the steps. INPUTS: {inputs}")
}
