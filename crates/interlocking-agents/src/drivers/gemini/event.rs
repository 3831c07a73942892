//! The program's output: one JSON object per line.

use serde::Deserialize;
use serde_json::Value;

use crate::drivers::json_lines;

/// A line; unknown or unneeded events are `Other`.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    Init {
        session_id: String,
    },
    Message {
        role: String,
        #[serde(default)]
        content: String,
    },
    ToolUse {
        tool_name: String,
        tool_id: String,
        #[serde(default)]
        parameters: Value,
    },
    ToolResult {
        tool_id: String,
        status: String,
    },
    /// A warning, or an error that ends the turn.
    Error {
        severity: String,
        message: String,
    },
    Result {
        status: String,
        error: Option<Failure>,
        stats: Option<Stats>,
    },
    #[serde(other)]
    Other,
}

/// Why a turn failed.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Failure {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: String,
}

/// The usage of one call of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Stats {
    pub(super) total_tokens: u64,
    /// Includes the tokens from the cache.
    pub(super) input_tokens: u64,
    /// Excludes the tokens for thinking.
    pub(super) output_tokens: u64,
}

impl Event {
    /// None if the line is something else, such as the output of a tool.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        json_lines::read(line)
    }
}

impl Stats {
    /// All tokens that the model wrote, including those for thinking.
    pub(super) fn written(self) -> u64 {
        self.total_tokens.saturating_sub(self.input_tokens).max(self.output_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_the_rest_is_let_be() {
        let line = br#"{"type":"init","timestamp":"2026-11-22T14:43:45.842Z","session_id":"a","model":"m"}"#;
        assert_eq!(Event::parse(line), Some(Event::Init { session_id: "a".to_owned() }));
        assert_eq!(Event::parse(br#"{"type":"retry","attempt":1}"#), Some(Event::Other));
        assert_eq!(Event::parse(b"YOLO mode is enabled."), None);
        let line = br#"{"type":"result","status":"success","stats":{"total_tokens":120,"input_tokens":100,"output_tokens":5}}"#;
        let Some(Event::Result { error: None, stats: Some(stats), .. }) = Event::parse(line) else { panic!() };
        assert_eq!(stats.written(), 20);
    }
}
