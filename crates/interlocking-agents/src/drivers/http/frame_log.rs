//! Inspects the raw stream before the HTTP crate converts it to events.
//!
//! The HTTP crate drops pieces of some providers' streams that it cannot parse, and continues, so an incomplete answer
//! looks complete. It also reports no events for many pieces that show that a provider is working.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::drivers::json_lines;

/// The pieces of one answer.
#[derive(Default)]
pub(super) struct FrameLog {
    state: Mutex<State>,
    piece: Notify,
}

#[derive(Default)]
struct State {
    last: Option<Instant>,
    malformed: Option<String>,
    incomplete_response: Option<Value>,
    blocked: Option<String>,
    whole: Option<String>,
}

impl FrameLog {
    pub(super) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// When the last piece arrived.
    pub(super) fn last(&self) -> Option<Instant> {
        self.state().last
    }

    /// Resolves when another piece has arrived.
    pub(super) async fn next_piece(&self) {
        self.piece.notified().await;
    }

    /// Why a piece could not be parsed.
    pub(super) fn malformed(&self) -> Option<String> {
        self.state().malformed.clone()
    }

    /// What OpenAI's Responses API reports for an answer that was not completed.
    pub(super) fn incomplete_response(&self) -> Option<Value> {
        self.state().incomplete_response.clone()
    }

    /// Why Gemini has blocked the prompt, if it has.
    pub(super) fn blocked(&self) -> Option<String> {
        self.state().blocked.clone()
    }

    /// The text of the whole answer, if it is repeated at the end, as in OpenAI's Responses API.
    pub(super) fn whole(&self) -> Option<String> {
        self.state().whole.clone()
    }

    /// The state is consistent after every statement, so a poisoned lock can be used.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for FrameLog {
    fn on_frame(&self, _context: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut state = self.state();
        state.last = Some(Instant::now());
        // OpenAI's streams end with a piece that is not JSON.
        if !frame.data.is_empty() && frame.data != "[DONE]" {
            match serde_json::from_str::<IgnoredAny>(frame.data) {
                Ok(_) if matches!(frame.event, Some("response.failed" | "response.incomplete")) => {
                    state.incomplete_response = json_lines::value(frame.data).map(|mut piece| piece["response"].take());
                }
                Ok(_) if frame.event == Some("response.completed") => {
                    state.whole = json_lines::value(frame.data).map(|piece| text_of(&piece["response"]["output"]));
                }
                // The cheap search first: there are many pieces, and only Gemini's have this field.
                Ok(_) if frame.data.contains("\"blockReason\"") => {
                    let reason =
                        json_lines::value(frame.data).map(|mut piece| piece["promptFeedback"]["blockReason"].take());
                    state.blocked = reason.and_then(|reason| reason.as_str().map(str::to_owned));
                }
                Ok(_) => {}
                Err(error) => state.malformed = Some(error.to_string()),
            }
        }
        drop(state);
        self.piece.notify_one();
    }
}

fn text_of(output: &Value) -> String {
    let items = output.as_array().into_iter().flatten();
    let parts = items.flat_map(|item| item["content"].as_array().into_iter().flatten());
    parts.filter(|part| part["type"] == "output_text").filter_map(|part| part["text"].as_str()).collect()
}
