//! What is said to a client, before it is written in any form.

use serde_json::Value;

use crate::reaction::{Block, Usage};
use crate::request::Request;

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

impl Event {
    pub(super) fn named(name: &'static str, data: &Value) -> Self {
        Self { name: Some(name), data: data.to_string() }
    }

    pub(super) fn of(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }
}

impl Speech<'_> {
    /// The pieces, with every [`Block::Output`] as what the dialect makes of it.
    pub(super) fn blocks(&self) -> Vec<Block> {
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
    pub(super) fn id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{:04}{index:04}", self.request.number)
    }

    pub(super) fn calls_a_tool(&self) -> bool {
        self.blocks().iter().any(|block| matches!(block, Block::Tool { .. }))
    }
}

/// The tool by which Claude Code takes the answer that a schema demands.
pub(crate) const STRUCTURED_OUTPUT: &str = "StructuredOutput";

/// A text in the pieces in which it is streamed.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
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
pub(super) fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
