//! An answer before it is encoded in a dialect.

use serde_json::Value;

use crate::reaction::{Block, End, Usage};
use crate::request::Request;

/// An answer that is to be encoded in a dialect.
pub(crate) struct Speech<'a> {
    pub(crate) request: &'a Request,
    pub(crate) blocks: &'a [Block],
    pub(crate) usage: Usage,
    /// Why the answer ends.
    pub(crate) end: &'a End,
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
    /// The pieces, with every [`Block::Output`] replaced by its form in the dialect.
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

    /// An id that is unique among all pieces of all answers.
    pub(super) fn id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}_{:04}{index:04}", self.request.number)
    }

    pub(super) fn calls_a_tool(&self) -> bool {
        self.blocks().iter().any(|block| matches!(block, Block::Tool { .. }))
    }
}

/// The tool through which Claude Code takes an answer that a schema demands.
pub(crate) const STRUCTURED_OUTPUT: &str = "StructuredOutput";

/// The pieces in which a text is streamed.
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

/// The fragments in which the arguments of a call are streamed: at least two, if there is more than one character.
pub(super) fn fragments(arguments: &str) -> impl Iterator<Item = &str> {
    let (first, second) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
    pieces(first).chain(pieces(second))
}

/// Joins texts with line breaks; empty ones are left out.
pub(super) fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
