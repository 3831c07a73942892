//! The list of dialects.

/// The form of requests to a model and of its answers.
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

impl Dialect {
    /// The dialect of a path without query, or `None` if the path is none of a model's.
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
}
