//! The forms in which models are asked, one file each.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;

use crate::message::Message;
use crate::reaction::{Block, Usage};
use crate::request::Request;

/// A form in which a model is asked and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic Messages: `/v1/messages`.
    Anthropic,
    /// OpenAI Responses: `…/responses`.
    Responses,
    /// OpenAI Chat Completions: `…/chat/completions`.
    Chat,
    /// Gemini: `…/models/MODEL:generateContent` and `:streamGenerateContent`.
    Gemini,
}

/// What a request's body means.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<String>,
    pub(crate) schema: Option<Value>,
    pub(crate) streams: bool,
}

/// An answer that is to be written in some dialect.
pub(crate) struct Speech<'a> {
    pub(crate) request: &'a Request,
    pub(crate) blocks: &'a [Block],
    pub(crate) usage: Usage,
    /// The limit of its length was reached.
    pub(crate) cut: bool,
}

/// One server-sent event.
pub(crate) struct Event {
    pub(crate) name: Option<&'static str>,
    pub(crate) data: String,
}

impl Dialect {
    /// The dialect of a path, without its query; none if no model is asked there.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(crate) fn read(self, path: &str, body: &Value) -> Reading {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(path, body),
        }
    }

    /// The answer as events.
    pub(crate) fn events(self, speech: &Speech<'_>) -> Vec<Event> {
        match self {
            Self::Anthropic => anthropic::events(speech),
            Self::Responses => responses::events(speech),
            Self::Chat => chat::events(speech),
            Self::Gemini => gemini::events(speech),
        }
    }

    /// The answer as one body.
    pub(crate) fn whole(self, speech: &Speech<'_>) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(speech),
            Self::Responses => responses::whole(speech),
            Self::Chat => chat::whole(speech),
            Self::Gemini => gemini::whole(speech),
        }
    }

    /// The body of an error.
    pub(crate) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::error(status, message),
            Self::Responses | Self::Chat => responses::error(status, message),
            Self::Gemini => gemini::error(status, message),
        }
    }
}

impl Event {
    fn named(name: &'static str, data: &Value) -> Self {
        Self { name: Some(name), data: data.to_string() }
    }

    fn of(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }
}

impl Speech<'_> {
    /// The pieces, with every [`Block::Output`] as what the dialect makes of it.
    fn blocks(&self) -> Vec<Block> {
        let spoken = |block: &Block| match block {
            Block::Output(value) if self.request.offers(STRUCTURED_OUTPUT) => {
                Block::Tool { name: STRUCTURED_OUTPUT.to_owned(), input: value.clone() }
            }
            Block::Output(value) => Block::Text(value.to_string()),
            other => other.clone(),
        };
        self.blocks.iter().map(spoken).collect()
    }

    /// An id that no other piece of any answer has.
    fn id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{:04}{index:04}", self.request.number)
    }

    fn calls_a_tool(&self) -> bool {
        self.blocks().iter().any(|block| matches!(block, Block::Tool { .. }))
    }
}

/// The tool by which Claude Code takes the answer that a schema demands.
pub(crate) const STRUCTURED_OUTPUT: &str = "StructuredOutput";

/// A text in the pieces in which it is streamed.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const PIECE: usize = 2048;
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, left) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = left;
        Some(piece)
    })
}

/// Texts that stand in a list of values, one a line.
fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
