//! The dialects, one file each.

mod anthropic;
mod chat;
mod form;
mod gemini;
mod kind;
mod reading;
mod responses;

use serde_json::Value;

pub(crate) use form::{Event, Speech};
pub use kind::Dialect;
pub(crate) use reading::Reading;

impl Dialect {
    pub(crate) fn read(self, path: &str, body: &Value) -> Reading {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(path, body),
        }
    }

    /// Whether a request to this path asks for a stream that is one list of JSON: Gemini's without `alt=sse`.
    pub(crate) fn streams_a_list(self, path: &str) -> bool {
        self == Self::Gemini && gemini::streams_a_list(path)
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
