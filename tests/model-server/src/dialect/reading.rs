//! What a request says, whatever its form.

use serde_json::Value;

use crate::message::Message;

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
