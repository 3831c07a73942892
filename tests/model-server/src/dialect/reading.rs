//! The meaning of a request, independent of the dialect.

use serde_json::Value;

use crate::message::Message;

/// The content of a request's body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<String>,
    pub(crate) schema: Option<Value>,
    pub(crate) streams: bool,
}
