//! A conversation as the model sees it, the same for every dialect.

use serde_json::Value;

/// One message of a request's history.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The author of the message.
    pub role: Role,
    /// The parts of the message, in order.
    pub parts: Vec<Part>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The program: it sends the user's prompt and the results of tools.
    User,
    /// The model, in an earlier answer.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// The model called a tool.
    Call {
        /// The id by which the result refers to this call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments.
        input: Value,
    },
    /// The result of a tool.
    Result {
        /// The call that it answers.
        id: String,
        /// The text of the result.
        text: String,
    },
}

impl Part {
    /// The text of the user, or `None` for a note that the program adds on its own, such as Claude Code's
    /// reminders.
    pub(crate) fn said(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !is_note(text) => Some(text),
            _ => None,
        }
    }
}

/// Whether `text` is a note of the program and not a text of the user.
fn is_note(text: &str) -> bool {
    let text = text.trim_start();
    ["<system-reminder>", "<environment_context>", "<session_context>", "<user_instructions>"]
        .iter()
        .any(|tag| text.starts_with(tag))
}

/// The text of a message's content: a string, or a list of parts with texts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str).or(part.as_str()))
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The string of a field, empty if there is none.
pub(crate) fn string(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
