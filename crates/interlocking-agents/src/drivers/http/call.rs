//! One call: sends the request and receives the streamed answer.

use std::pin::pin;

use futures_util::StreamExt;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, StopReason, StreamEnd, ToolCall};
use genai::{Client, ServiceTarget};
use tokio::time::{Instant, sleep_until};
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

use super::failure::{self, Failure};
use super::frame_log::FrameLog;
use super::relay::Relay;
use super::settings::HttpSettings;
use crate::agent::error::AgentErrorKind;
use crate::agent::turn::Reply;
use crate::conversation::activity::Activity;
use crate::program::Redactor;

/// The model's answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: genai::chat::Usage,
}

/// Sends the request and receives the answer to its end, within the limits.
pub(super) async fn call(
    relay: &Relay<'_>,
    client: &Client,
    target: ServiceTarget,
    request: ChatRequest,
    options: ChatOptions,
    settings: &HttpSettings,
    activity: &Activity,
) -> Result<Answer, Failure> {
    let frames = FrameLog::new();
    let options = options.with_raw_frame_sink_arc(frames.clone());
    let begun = Instant::now();
    let answer = async {
        tokio::select! {
            biased;
            outcome = receive(client, target, request, &options, &frames, settings, relay.redactor()) => outcome,
            never = relay.serve() => match never {},
        }
    };
    // The HTTP crate logs whole answers, so logging is disabled.
    let answer = answer.with_subscriber(Dispatch::none());
    let mut answer = pin!(answer);
    loop {
        tokio::select! {
            biased;
            outcome = &mut answer => return outcome.map_err(|failure| real_cause(failure, relay)),
            () = frames.next_piece() => activity.record(),
            kind = reached(limit(settings, begun, frames.last())) => return Err(Failure::begun(kind)),
        }
    }
}

/// The real cause of a connection error: the HTTP crate only knows its connection to the relay.
fn real_cause(failure: Failure, relay: &Relay<'_>) -> Failure {
    match failure.kind {
        AgentErrorKind::Connection { .. } => relay.failure().unwrap_or(failure),
        _ => failure,
    }
}

/// The limit that is reached first if nothing more arrives, and the error for it.
fn limit(settings: &HttpSettings, begun: Instant, last: Option<Instant>) -> Option<(Instant, AgentErrorKind)> {
    let whole = settings.time_limit.map(|limit| (begun + limit, AgentErrorKind::TimedOut { limit }));
    let silence = match last {
        Some(last) => settings.idle_limit.map(|limit| (last + limit, AgentErrorKind::Idle { limit, nudges: 0 })),
        None => settings.first_event_limit.map(|limit| (begun + limit, AgentErrorKind::NoFirstEvent { limit })),
    };
    whole.into_iter().chain(silence).min_by_key(|(due, _)| *due)
}

async fn reached(limit: Option<(Instant, AgentErrorKind)>) -> AgentErrorKind {
    match limit {
        Some((due, kind)) => {
            sleep_until(due).await;
            kind
        }
        None => std::future::pending().await,
    }
}

async fn receive(
    client: &Client,
    target: ServiceTarget,
    request: ChatRequest,
    options: &ChatOptions,
    frames: &FrameLog,
    settings: &HttpSettings,
    redactor: &Redactor,
) -> Result<Answer, Failure> {
    let begun = client.exec_chat_stream(target, request, Some(options)).await;
    let mut stream = begun.map_err(|error| failure::failure(&error, redactor))?.stream;
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let Some(reason) = frames.malformed() {
            return Err(failure::malformed(&reason));
        }
        let event = event.map_err(|error| match (frames.incomplete_response(), frames.blocked()) {
            (Some(response), _) => failure::in_the_stream(&response["error"], redactor),
            // Such an answer has no candidates, which the HTTP crate takes for an error.
            (None, Some(reason)) => failure::filtered(&reason),
            (None, None) => failure::failure(&error, redactor),
        });
        match event? {
            ChatStreamEvent::Chunk(piece) => {
                text.push_str(&piece.content);
                if text.len() > Reply::LONGEST_TEXT {
                    return Err(Failure::begun(Reply::too_long()));
                }
            }
            ChatStreamEvent::End(end) => {
                let usage = end.captured_usage.clone();
                return match improper_end(&text, &end, frames, settings) {
                    Some(failure) => Err(failure.counted(usage)),
                    None => {
                        let calls = end.captured_into_tool_calls().unwrap_or_default();
                        Ok(Answer { text, calls, usage: usage.unwrap_or_default() })
                    }
                };
            }
            _ => {}
        }
    }
    Err(frames.malformed().map_or_else(failure::broken_off, |reason| failure::malformed(&reason)))
}

/// Gemini's reasons for an end at which the model has produced nothing of use. Another attempt may succeed.
const GEMINI_FAILURES: [&str; 5] =
    ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER"];

/// What is wrong with an answer that has ended.
fn improper_end(text: &str, end: &StreamEnd, frames: &FrameLog, settings: &HttpSettings) -> Option<Failure> {
    // Some servers omit the whole text at the end.
    if frames.whole().is_some_and(|whole| !whole.is_empty() && whole != text) {
        return Some(failure::malformed("a piece is missing"));
    }
    let incomplete = frames.incomplete_response();
    let reason = incomplete.as_ref().and_then(|response| response.pointer("/incomplete_details/reason")?.as_str());
    if reason == Some("content_filter") {
        return Some(failure::filtered("content_filter"));
    }
    match &end.captured_stop_reason {
        // Some streams that broke off are reported as ended, but without a stop reason.
        None => Some(failure::broken_off()),
        Some(StopReason::MaxTokens(reason)) if reason == "model_context_window_exceeded" => {
            Some(Failure::begun(AgentErrorKind::PromptTooLong))
        }
        Some(StopReason::MaxTokens(_)) => Some(failure::cut_off(settings.max_tokens)),
        Some(StopReason::ContentFilter(reason)) => Some(failure::filtered(reason)),
        Some(StopReason::Other(reason)) if GEMINI_FAILURES.contains(&&**reason) => Some(failure::malformed(reason)),
        Some(_) => None,
    }
}
