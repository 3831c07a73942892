//! Builds the request: the conversation so far, the schema in the requested form, the limits.

use std::sync::Arc;

use genai::chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec, Tool, ToolChoice};

use super::dialect::sent;
use super::history::Exchange;
use super::settings::{HttpAnswers, HttpProvider, HttpSettings};
use crate::agent::turn::Turn;
use crate::conversation::decision::DecisionTool;
use crate::schema::Schema;
use crate::schema::strict::StrictSchema;

/// Tools of the providers. A decision tool with such a name would enable the provider's tool.
const RESERVED: [&str; 5] = ["web_search", "googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext"];

/// How the answer to a turn is requested, and therefore where it is found.
pub(super) enum Form {
    /// No schema: the answer is any text.
    Text,
    /// The provider enforces the schema; the text is the answer.
    Schema(StrictSchema),
    /// The answer is a call of one of these tools.
    Tools(Vec<Offered>),
    /// The prompt contains the schema; the answer is somewhere in the text.
    Prompted(Arc<Schema>),
}

/// A tool, and its input schema as the provider accepts it.
pub(super) struct Offered {
    pub(super) tool: DecisionTool,
    pub(super) input: StrictSchema,
}

impl Form {
    pub(super) fn of(turn: &Turn, settings: &HttpSettings) -> Self {
        let Some(schema) = &turn.schema else { return Self::Text };
        let tools = match settings.answers {
            HttpAnswers::Decisions => schema.decisions().filter(|tools| !tools.iter().any(is_reserved)),
            HttpAnswers::Best | HttpAnswers::Prompted => None,
        };
        match tools {
            Some(tools) => Self::Tools(tools.into_iter().map(Offered::new).collect()),
            None if settings.prompts() => Self::Prompted(Arc::clone(schema)),
            None => Self::Schema(StrictSchema::of(schema.as_value())),
        }
    }

    /// Instructions for the model in addition to the turn's own system prompt.
    fn instructions(&self) -> Option<String> {
        match self {
            Self::Text | Self::Schema(_) => None,
            Self::Tools(_) => {
                Some("Answer by calling exactly one of the tools: each stands for a decision.".to_owned())
            }
            Self::Prompted(schema) => Some(format!(
                "Answer with one JSON value and nothing else: no fence, no words before or after it. It must fit this JSON \
                 schema:\n{}",
                schema.as_value()
            )),
        }
    }
}

impl HttpSettings {
    /// Whether schemas are put into the prompt.
    pub(super) fn prompts(&self) -> bool {
        self.answers == HttpAnswers::Prompted || !self.provider.enforces_schemas()
    }
}

fn is_reserved(tool: &DecisionTool) -> bool {
    RESERVED.contains(&tool.name.as_str())
}

/// The request for a turn in a session. The turn's prompt is the last in the session.
pub(super) fn request(turn: &Turn, exchanges: &[Exchange], form: &Form, settings: &HttpSettings) -> ChatRequest {
    let mut request = ChatRequest::from_messages(messages(exchanges));
    let system: Vec<String> = turn.system.clone().into_iter().chain(form.instructions()).collect();
    if !system.is_empty() {
        request = request.with_system(system.join("\n\n"));
    }
    if let Form::Tools(tools) = form {
        request = request.with_tools(tools.iter().map(|offered| offered.tool(settings.provider)));
    }
    request
}

/// Prompts without an answer are joined with the next prompt: providers do not accept two user messages in a row.
fn messages(exchanges: &[Exchange]) -> Vec<ChatMessage> {
    let mut messages = Vec::with_capacity(exchanges.len() * 2);
    let mut prompts: Vec<&str> = Vec::new();
    for Exchange { prompt, answer } in exchanges {
        prompts.push(prompt);
        if let Some(answer) = answer {
            messages.push(ChatMessage::user(prompts.join("\n\n")));
            prompts.clear();
            // Providers refuse an empty message.
            messages.push(ChatMessage::assistant(if answer.trim().is_empty() { "(no answer)" } else { answer }));
        }
    }
    if !prompts.is_empty() {
        messages.push(ChatMessage::user(prompts.join("\n\n")));
    }
    messages
}

impl Offered {
    fn new(tool: DecisionTool) -> Self {
        let input = StrictSchema::of(&tool.input_schema);
        Self { tool, input }
    }

    fn tool(&self, provider: HttpProvider) -> Tool {
        let offered = Tool::new(self.tool.name.clone()).with_schema(sent(&self.input, provider));
        // Gemini has no strict mode for a single tool.
        let offered = if provider == HttpProvider::Gemini { offered } else { offered.with_strict(true) };
        match &self.tool.description {
            Some(description) => offered.with_description(description),
            None => offered,
        }
    }
}

pub(super) fn options(form: &Form, settings: &HttpSettings) -> ChatOptions {
    let mut options = ChatOptions::default().with_capture_usage(true).with_capture_tool_calls(true);
    if let Some(max_tokens) = settings.max_tokens {
        options = options.with_max_tokens(max_tokens);
    }
    match form {
        Form::Schema(schema) => options.with_response_format(JsonSpec::new("answer", sent(schema, settings.provider))),
        // Anthropic does not allow forcing a tool call while the model thinks, which some models do unasked. There the
        // model is only instructed to call a tool.
        Form::Tools(_) if settings.provider != HttpProvider::Anthropic => {
            options.with_tool_choice(ToolChoice::Required)
        }
        Form::Tools(_) | Form::Text | Form::Prompted(_) => options,
    }
}
