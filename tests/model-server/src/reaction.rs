//! The server's reactions to requests.

use std::time::Duration;

use serde_json::Value;

/// The server's reaction to a request.
#[derive(Debug, Clone)]
pub struct Reaction {
    pub(crate) delay: Duration,
    pub(crate) pace: Duration,
    pub(crate) fault: Option<Fault>,
    pub(crate) answer: Answer,
}

/// The content of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A message of the model, in the request's dialect.
    Message { blocks: Vec<Block>, usage: Usage, end: End },
    /// A status. The body has the form of the dialect's errors, or is given raw.
    Status { status: u16, headers: Vec<(String, String)>, message: String, raw: Option<(String, Vec<u8>)> },
    /// The connection ends without an answer.
    Hangup,
}

/// Why a message of the model ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// It is complete.
    #[default]
    Complete,
    /// It reached the limit of its length.
    Cut,
    /// The provider blocks the prompt or the answer.
    Blocked,
    /// This reason, in the words of the dialect.
    Named(String),
}

/// A fault while the answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server sends nothing more after so many events.
    Stall(usize),
    /// The stream ends in good order after so many events.
    Truncate(usize),
    /// The connection breaks after so many events.
    Drop(usize),
    /// This event is invalid JSON.
    Garble(usize),
}

/// A piece of the model's message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// The model's thinking before it answers.
    Thinking(String),
    /// A call of a tool, whether the request offers the tool or not.
    Tool {
        /// The name of the tool.
        name: String,
        /// The arguments. Dialects that have tools with plain text as input send a string unchanged.
        input: Value,
    },
    /// The answer that the request's schema demands, in the form that the program expects: a call of the tool
    /// `StructuredOutput` if the request offers it, otherwise text.
    Output(Value),
}

/// The tokens that an answer claims to have used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read, without those from the cache.
    pub input: u64,
    /// Tokens read from the cache.
    pub cached: u64,
    /// Tokens written to the cache; only Anthropic Messages has them.
    pub cache_written: u64,
    /// Tokens written.
    pub output: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, cached: 0, cache_written: 0, output: 10 }
    }
}

impl Reaction {
    /// The model answers with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::blocks([Block::Text(text.into())])
    }

    /// The model calls a tool.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::blocks([Block::Tool { name: name.to_owned(), input }])
    }

    /// The model answers with the [output](Block::Output) that a schema asks for.
    pub fn output(value: Value) -> Self {
        Self::blocks([Block::Output(value)])
    }

    /// The model answers with a message of these pieces.
    pub fn blocks(blocks: impl IntoIterator<Item = Block>) -> Self {
        let blocks = blocks.into_iter().collect();
        Self::from(Answer::Message { blocks, usage: Usage::default(), end: End::Complete })
    }

    /// An HTTP status with an error in the form of the dialect.
    pub fn status(status: u16, message: impl Into<String>) -> Self {
        Self::from(Answer::Status { status, headers: Vec::new(), message: message.into(), raw: None })
    }

    /// The provider blocks the prompt: there is no answer, and the reason is given in the form of the dialect.
    pub fn blocked() -> Self {
        Self::blocks([]).ending(End::Blocked)
    }

    /// This body, unchanged, with status 200.
    pub fn raw(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let raw = Some((content_type.to_owned(), body.into()));
        Self::from(Answer::Status { status: 200, headers: Vec::new(), message: String::new(), raw })
    }

    /// The connection ends without an answer.
    pub fn hangup() -> Self {
        Self::from(Answer::Hangup)
    }

    fn from(answer: Answer) -> Self {
        Self { delay: Duration::ZERO, pace: Duration::ZERO, fault: None, answer }
    }

    /// The message with another piece appended.
    #[must_use]
    pub fn and(mut self, block: Block) -> Self {
        if let Answer::Message { blocks, .. } = &mut self.answer {
            blocks.push(block);
        }
        self
    }

    /// The message with this token usage.
    #[must_use]
    pub fn with_usage(mut self, new: Usage) -> Self {
        if let Answer::Message { usage, .. } = &mut self.answer {
            *usage = new;
        }
        self
    }

    /// The message, marked as cut off at the limit of its length.
    #[must_use]
    pub fn cut_off(self) -> Self {
        self.ending(End::Cut)
    }

    /// The message, with this reason for its end in the words of the dialect, such as `MALFORMED_FUNCTION_CALL`.
    /// OpenAI Responses has no such reasons, and its message stays as it is.
    #[must_use]
    pub fn finished(self, reason: impl Into<String>) -> Self {
        self.ending(End::Named(reason.into()))
    }

    fn ending(mut self, new: End) -> Self {
        if let Answer::Message { end, .. } = &mut self.answer {
            *end = new;
        }
        self
    }

    /// The status with this header, such as `retry-after`.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        if let Answer::Status { headers, .. } = &mut self.answer {
            headers.push((name.to_owned(), value.into()));
        }
        self
    }

    /// Sends nothing for this long.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Waits this long between two events of the stream.
    #[must_use]
    pub fn paced(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    /// Sends nothing more after so many events of the stream. An answer that is not streamed is never sent.
    #[must_use]
    pub fn stalled_after(self, events: usize) -> Self {
        Self { fault: Some(Fault::Stall(events)), ..self }
    }

    /// Ends the stream, in good order, after so many events. An answer that is not streamed ends in the middle.
    #[must_use]
    pub fn truncated_after(self, events: usize) -> Self {
        Self { fault: Some(Fault::Truncate(events)), ..self }
    }

    /// Breaks the connection after so many events of the stream.
    #[must_use]
    pub fn dropped_after(self, events: usize) -> Self {
        Self { fault: Some(Fault::Drop(events)), ..self }
    }

    /// Makes this event of the stream, counted from 0, invalid JSON, or the answer if it is not streamed.
    #[must_use]
    pub fn garbled_at(self, event: usize) -> Self {
        Self { fault: Some(Fault::Garble(event)), ..self }
    }
}
