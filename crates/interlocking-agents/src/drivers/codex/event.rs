//! The lines that Codex writes, as far as this crate understands them.

use serde::Deserialize;
use serde_json::Value;

use crate::drivers::json_lines;

/// One line of `codex exec --json`. Every version adds types and fields; unknown ones are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Event {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "turn.started")]
    TurnStarted,
    #[serde(rename = "item.started")]
    ItemStarted { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        /// The tokens of the whole session so far, including what a fork inherited, but without the calls of turns that
        /// were killed.
        #[serde(default)]
        usage: Tokens,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Message },
    /// A retry, or an error that `turn.failed` repeats right afterwards.
    #[serde(rename = "error")]
    Error(Message),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Item {
    #[serde(default)]
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) what: What,
}

/// The contents of an item.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum What {
    AgentMessage {
        #[serde(default)]
        text: String,
    },
    CommandExecution {
        /// The arguments, joined for a shell.
        #[serde(default)]
        command: String,
        #[serde(default)]
        exit_code: Option<i32>,
    },
    FileChange {
        #[serde(default)]
        changes: Vec<Change>,
        #[serde(default)]
        status: String,
    },
    McpToolCall {
        #[serde(default)]
        server: String,
        #[serde(default)]
        tool: String,
        #[serde(default)]
        arguments: Value,
    },
    WebSearch {
        #[serde(default)]
        query: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Change {
    pub(super) path: String,
    #[serde(default)]
    pub(super) kind: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) message: String,
}

/// Tokens as OpenAI counts them: cached tokens are part of the input, and reasoning tokens are part of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Tokens {
    #[serde(default)]
    pub(super) input_tokens: u64,
    #[serde(default)]
    pub(super) output_tokens: u64,
}

impl Event {
    /// None for a line that is not an event.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        json_lines::read(line)
    }
}

/// The number and the reason of a message that announces a retry: `Reconnecting... 2/5 (reason)`.
pub(super) fn repetition(message: &str) -> Option<(Option<u32>, &str)> {
    let rest = message.strip_prefix("Reconnecting...")?.trim_start();
    let (count, reason) = rest.split_once('(').unwrap_or((rest, ""));
    let attempt = count.trim().split('/').next().and_then(|number| number.parse().ok());
    Some((attempt, reason.strip_suffix(')').unwrap_or(reason)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_ignored() {
        for line in [
            r#"{"type":"session.compacted","why":1}"#,
            r#"{"type":"turn.suspended","new":{}}"#,
            r#"{"type":"item.completed","item":{"id":"i","type":"hologram","x":[1]}}"#,
            r#"{"type":"item.completed","item":{"type":"error","message":"a mere warning"}}"#,
        ] {
            let event = Event::parse(line.as_bytes()).expect(line);
            assert!(
                matches!(event, Event::Other | Event::ItemCompleted { item: Item { what: What::Other, .. } }),
                "{event:?}"
            );
        }
        for line in ["", "WARNING: …", "[]", r#"{"type":"thread.started"}"#] {
            assert!(Event::parse(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn repetitions_have_a_number_and_a_reason() {
        assert_eq!(
            repetition("Reconnecting... 2/5 (unexpected status 503 (no body))"),
            Some((Some(2), "unexpected status 503 (no body)"))
        );
        assert_eq!(repetition("Reconnecting... waiting for network (no route)"), Some((None, "no route")));
        assert_eq!(repetition("Quota exceeded."), None);
    }
}
