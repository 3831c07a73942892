//! One call: the request goes out, the answer comes in piece by piece.

use std::time::Duration;

use futures_util::StreamExt;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, StopReason, StreamEnd, ToolCall};
use genai::{Client, ServiceTarget};
use tokio::time::{Instant, timeout_at};
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

use super::failure::{self, Failure};
use super::settings::HttpSettings;
use crate::error::AgentErrorKind;
use crate::pulse::Pulse;

/// The longest answer that is taken, in bytes: far more than any model writes.
const LONGEST: usize = 16 * 1024 * 1024;

/// What the model said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: genai::chat::Usage,
}

/// Asks, and hears the answer to its end.
pub(super) async fn call(
    client: &Client,
    target: ServiceTarget,
    request: ChatRequest,
    options: &ChatOptions,
    settings: &HttpSettings,
    pulse: &Pulse,
) -> Result<Answer, Failure> {
    let heard = hear(client, target, request, options, settings, pulse);
    // The HTTP crate writes whole answers into the log.
    let heard = heard.with_subscriber(Dispatch::none());
    match settings.time_limit {
        None => heard.await,
        Some(limit) => match tokio::time::timeout(limit, heard).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure { kind: AgentErrorKind::TimedOut { limit }, begun: true }),
        },
    }
}

async fn hear(
    client: &Client,
    target: ServiceTarget,
    request: ChatRequest,
    options: &ChatOptions,
    settings: &HttpSettings,
    pulse: &Pulse,
) -> Result<Answer, Failure> {
    let begun = client.exec_chat_stream(target, request, Some(options)).await;
    let mut stream = begun.map_err(|error| failure::failure(&error))?.stream;
    let mut text = String::new();
    let mut limit = settings.first_event_limit;
    loop {
        let Some(event) = within(limit, stream.next()).await? else { return Err(failure::broken_off()) };
        let event = event.map_err(|error| failure::failure(&error))?;
        if matches!(event, ChatStreamEvent::Start) {
            // It says so before anything was sent.
            continue;
        }
        pulse.beat();
        limit = settings.idle_limit;
        match event {
            ChatStreamEvent::Chunk(piece) => {
                text.push_str(&piece.content);
                if text.len() > LONGEST {
                    let message = format!("the model's answer is longer than {LONGEST} bytes");
                    return Err(Failure { kind: AgentErrorKind::Other { message, transient: false }, begun: true });
                }
            }
            ChatStreamEvent::End(end) => return ended(text, end, settings),
            _ => {}
        }
    }
}

fn ended(text: String, end: StreamEnd, settings: &HttpSettings) -> Result<Answer, Failure> {
    match &end.captured_stop_reason {
        // Gemini's stream ends without an end where it broke off.
        None => return Err(failure::broken_off()),
        Some(StopReason::MaxTokens(reason)) if reason == "model_context_window_exceeded" => {
            return Err(Failure { kind: AgentErrorKind::PromptTooLong, begun: true });
        }
        Some(StopReason::MaxTokens(_)) => return Err(failure::cut_off(settings.max_tokens)),
        Some(StopReason::ContentFilter(reason)) => return Err(failure::filtered(reason)),
        Some(_) => {}
    }
    let usage = end.captured_usage.clone().unwrap_or_default();
    Ok(Answer { text, calls: end.captured_into_tool_calls().unwrap_or_default(), usage })
}

async fn within<T>(limit: Option<Duration>, next: impl Future<Output = T>) -> Result<T, Failure> {
    let Some(limit) = limit else { return Ok(next.await) };
    let silent = || Failure { kind: AgentErrorKind::Idle { limit, nudges: 0 }, begun: true };
    timeout_at(Instant::now() + limit, next).await.map_err(|_| silent())
}
