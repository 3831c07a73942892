//! The program's output: one JSON object per line. Unknown events and fields are ignored.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::drivers::json_lines;

/// A line of the program's standard output.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    /// An event about the program itself, such as its start, or the retry of a request.
    System(System),
    /// Text or tool calls of the model.
    Assistant(MessageEvent),
    /// The result of a tool, or text that the program adds in the user's name.
    User(MessageEvent),
    /// The end of a turn. There may be several in one call.
    Result(Box<Outcome>),
    /// How much of the subscription is left.
    RateLimitEvent(RateLimitEvent),
    /// Anything else, such as a piece of an answer that is still being written.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub(super) subtype: String,
    pub(super) session_id: Option<String>,
    pub(super) attempt: Option<u32>,
    pub(super) retry_delay_ms: Option<f64>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) error_status: Option<u16>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MessageEvent {
    pub(super) message: Message,
    pub(super) session_id: Option<String>,
    /// Whether this is the program's own text about a failed request, and not the model's.
    #[serde(default)]
    pub(super) is_api_error_message: bool,
    /// The kind of that failure.
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    #[serde(default, deserialize_with = "blocks")]
    pub(super) content: Vec<Block>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        content: Value,
        #[serde(default)]
        is_error: bool,
    },
    #[serde(other)]
    Other,
}

/// The result event.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    pub(super) subtype: String,
    pub(super) is_error: bool,
    pub(super) terminal_reason: Option<String>,
    pub(super) result: Option<String>,
    pub(super) structured_output: Option<Value>,
    pub(super) errors: Vec<Value>,
    #[serde(deserialize_with = "lenient")]
    pub(super) api_error_status: Option<u16>,
    pub(super) api_error: Option<Value>,
    pub(super) usage: Option<Value>,
    /// The origin of the result, if it does not belong to the requested turn.
    pub(super) origin: Option<Value>,
    /// The usage of this result alone, by model. The other fields accumulate over resumes and forks.
    pub(super) model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUsage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
    #[serde(rename = "costUSD")]
    pub(super) cost_usd: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RateLimitEvent {
    pub(super) rate_limit_info: Option<RateLimitInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RateLimitInfo {
    pub(super) status: Option<String>,
    /// When the limit is reset, in seconds since 1970.
    pub(super) resets_at: Option<f64>,
}

impl Event {
    /// Parses a line; none if it is not JSON of the expected form.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        // Most lines are like this, and only show activity.
        if line.starts_with(br#"{"type":"stream_event""#) {
            return Some(Self::Other);
        }
        json_lines::read(line)
    }
}

/// Whether a line is the result of the requested turn. Reads no other values into memory.
pub(super) fn ends_turn(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        r#type: String,
        origin: Option<IgnoredAny>,
    }
    json_lines::read::<Kind>(line).is_some_and(|kind| kind.r#type == "result" && kind.origin.is_none())
}

/// Converts a text or a list of blocks to blocks.
fn blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => vec![Block::Text { text }],
        // An invalid block does not hide the others.
        Value::Array(blocks) => blocks.into_iter().filter_map(|block| serde_json::from_value(block).ok()).collect(),
        _ => Vec::new(),
    })
}

/// A number, or nothing if the value is something else.
fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value.as_u64().and_then(|number| u16::try_from(number).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_ignored() {
        assert!(matches!(Event::read(br#"{"type":"brand_new","x":1}"#), Some(Event::Other)));
        assert!(Event::read(b"Warning: not JSON").is_none());
        let line = br#"{"type":"assistant","new":{},"message":{"new":1,"content":[{"type":"new_block"},{"type":"text","text":"a","new":2},{"type":"text"}]}}"#;
        let Some(Event::Assistant(said)) = Event::read(line) else { panic!("an assistant's message") };
        assert!(matches!(&said.message.content[..], [Block::Other, Block::Text { text }] if text == "a"));
        let line = br#"{"type":"user","message":{"content":"plain"},"api_error_status":"n/a"}"#;
        let Some(Event::User(said)) = Event::read(line) else { panic!("a user's message") };
        assert!(matches!(&said.message.content[..], [Block::Text { text }] if text == "plain"));
    }
}
