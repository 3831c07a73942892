//! Texts that tell an agent to follow a protocol.

use crate::prompt::{Prompt, PromptKind};
use serde_json::{Map, Value, json};
use std::num::NonZeroU32;

/// The text that tells an agent to implement a prompt: with `debugging` for a debug prompt, and with `implementation` for any
/// other.
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
    instruction(protocol, inputs)
}

/// An approach that a specialist is asked to refine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ApproachReference {
    /// The specialist that wrote the approach.
    pub specialist_name: String,
    /// The approach's number.
    pub approach_num: u32,
}

/// The text that tells a specialist to discover approaches for one segment of a feature's requirements. If several specialists of
/// a kind work at once, `instance` distinguishes them: `backend_2`.
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
    instruction("discovery", inputs)
}

fn instruction(protocol: &str, inputs: Map<String, Value>) -> String {
    let mut inputs = Value::Object(inputs);
    // Whether a map of `serde_json` sorts its keys depends on the program's other dependencies. The text for an agent must not.
    inputs.sort_all_objects();
    format!("Run `envoy protocol {protocol}` and follow the steps. INPUTS: {inputs}")
}
