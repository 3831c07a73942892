//! A request of a program.

use std::time::Instant;

use serde_json::Value;

use crate::dialect::{Dialect, Reading};
use crate::message::{Message, Part, Role};

/// A request for an answer of the model, as it arrived and as its dialect defines it.
#[derive(Debug, Clone)]
pub struct Request {
    /// The number of requests for an answer of the model that the server received before, in any dialect. Other
    /// requests, and those whose body is no JSON, do not count.
    pub number: usize,
    /// When the request had arrived completely.
    pub at: Instant,
    /// The dialect of the path.
    pub dialect: Dialect,
    /// The path and the query.
    pub path: String,
    /// Names in lower case, and values. Keys and tokens are included: tests check that the right ones arrive.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    pub(crate) reading: Reading,
}

impl Request {
    pub(crate) fn new(
        number: usize,
        dialect: Dialect,
        path: String,
        headers: Vec<(String, String)>,
        body: Value,
    ) -> Self {
        let reading = dialect.read(&path, &body);
        Self { number, at: Instant::now(), dialect, path, headers, body, reading }
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        &self.reading.model
    }

    /// All parts of the system prompt, including what the dialect calls instructions or a developer's message.
    pub fn system(&self) -> &str {
        &self.reading.system
    }

    /// The whole conversation, without the system prompt.
    pub fn messages(&self) -> &[Message] {
        &self.reading.messages
    }

    /// The names of the tools on offer.
    pub fn tools(&self) -> &[String] {
        &self.reading.tools
    }

    /// Whether a tool of this name is on offer.
    pub fn offers(&self, tool: &str) -> bool {
        self.reading.tools.iter().any(|offered| offered == tool)
    }

    /// The schema of the answer that the request demands, given by the dialect's own means or as the input of a tool
    /// named `StructuredOutput`.
    pub fn schema(&self) -> Option<&Value> {
        self.reading.schema.as_ref()
    }

    /// Whether the request asks for a streamed answer.
    pub fn streams(&self) -> bool {
        self.reading.streams
    }

    /// A header's value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// The user's last text. Notes that programs add on their own, such as reminders, do not count.
    pub fn prompt(&self) -> String {
        match self.last_said() {
            Some(index) => said(&self.reading.messages[index]),
            None => String::new(),
        }
    }

    /// All texts of the user, in order.
    pub fn prompts(&self) -> Vec<String> {
        let users = self.reading.messages.iter().filter(|message| message.role == Role::User);
        users.map(said).filter(|text| !text.is_empty()).collect()
    }

    /// The results of tools since the [prompt](Self::prompt), in order.
    pub fn results(&self) -> Vec<&str> {
        let messages = &self.reading.messages;
        let Some(index) = self.last_said() else { return Vec::new() };
        // Results before the text in the same message answer calls from before the prompt.
        let after = messages[index].parts.iter().rposition(|part| part.said().is_some()).map_or(0, |last| last + 1);
        let parts = messages[index].parts[after..].iter().chain(messages[index + 1..].iter().flat_map(|m| &m.parts));
        parts.filter_map(result).collect()
    }

    /// The results of the calls in the model's last message.
    pub fn last_results(&self) -> Vec<&str> {
        let messages = &self.reading.messages;
        let after = messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |last| last + 1);
        let answered = self.results().len();
        let all: Vec<_> = messages[after..].iter().flat_map(|message| &message.parts).filter_map(result).collect();
        all[all.len().saturating_sub(answered)..].to_vec()
    }

    /// Every text of the conversation, results of tools included.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let parts = self.reading.messages.iter().flat_map(|message| &message.parts);
        parts.filter_map(|part| match part {
            Part::Text(text) | Part::Result { text, .. } => Some(&**text),
            Part::Call { .. } => None,
        })
    }

    /// A summary of the request in one line, for messages.
    pub fn summary(&self) -> String {
        let results = self.results();
        format!(
            "{:?} {}, model `{}`, tools [{}], prompt {:?}, {} results since, the last {:?}",
            self.dialect,
            self.path,
            self.model(),
            self.tools().join(" "),
            shortened(&self.prompt()),
            results.len(),
            shortened(results.last().copied().unwrap_or_default()),
        )
    }

    fn last_said(&self) -> Option<usize> {
        let spoken = |message: &Message| message.role == Role::User && message.parts.iter().any(|p| p.said().is_some());
        self.reading.messages.iter().rposition(spoken)
    }
}

fn said(message: &Message) -> String {
    message.parts.iter().filter_map(Part::said).collect::<Vec<_>>().join("\n")
}

fn result(part: &Part) -> Option<&str> {
    match part {
        Part::Result { text, .. } => Some(text),
        Part::Text(_) | Part::Call { .. } => None,
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 400;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
