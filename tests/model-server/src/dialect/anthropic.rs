//! Anthropic Messages.

use serde_json::{Value, json};

use super::form::{Event, STRUCTURED_OUTPUT, Speech, fragments, pieces};
use super::reading::Reading;
use crate::message::{Message, Part, Role, string, text_of};
use crate::reaction::{Block, End, Usage};

pub(super) fn read(body: &Value) -> Reading {
    // Messages that the program puts into the conversation on its own, such as its working directory,
    // have the role `system`.
    let all = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (interspersed, said): (Vec<_>, Vec<_>) = all.iter().partition(|message| message["role"] == "system");
    let messages = said.into_iter().map(message).collect();
    let system = std::iter::once(&body["system"]).chain(interspersed.into_iter().map(|message| &message["content"]));
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let structured = tools.iter().find(|tool| tool["name"] == STRUCTURED_OUTPUT).map(|tool| &tool["input_schema"]);
    let schema = structured.or_else(|| body.pointer("/output_config/format/schema")).cloned();
    Reading {
        model: string(body, "model"),
        system: system.map(text_of).collect::<Vec<_>>().join("\n"),
        messages,
        tools: tools.iter().map(|tool| string(tool, "name")).collect(),
        schema,
        streams: body["stream"] == true,
    }
}

fn message(value: &Value) -> Message {
    let role = if value["role"] == "assistant" { Role::Assistant } else { Role::User };
    let parts = match &value["content"] {
        Value::String(text) => vec![Part::Text(text.clone())],
        Value::Array(parts) => parts.iter().filter_map(part).collect(),
        _ => Vec::new(),
    };
    Message { role, parts }
}

fn part(value: &Value) -> Option<Part> {
    Some(match value["type"].as_str()? {
        "text" => Part::Text(string(value, "text")),
        "tool_use" => {
            Part::Call { id: string(value, "id"), name: string(value, "name"), input: value["input"].clone() }
        }
        "tool_result" => Part::Result { id: string(value, "tool_use_id"), text: text_of(&value["content"]) },
        _ => return None,
    })
}

pub(super) fn events(speech: &Speech<'_>) -> Vec<Event> {
    let mut start = envelope(speech);
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![Event::named("message_start", &json!({ "type": "message_start", "message": start }))];
    for (index, block) in speech.blocks().iter().enumerate() {
        let (start, deltas, field) = match block {
            Block::Text(text) => (json!({ "type": "text", "text": "" }), text.clone(), ("text_delta", "text")),
            Block::Thinking(text) => (
                json!({ "type": "thinking", "thinking": "", "signature": "" }),
                text.clone(),
                ("thinking_delta", "thinking"),
            ),
            Block::Tool { name, input } => (
                json!({ "type": "tool_use", "id": speech.id("toolu", index), "name": name, "input": {} }),
                input.to_string(),
                ("input_json_delta", "partial_json"),
            ),
            Block::Output(_) => continue,
        };
        let named = |name: &'static str, mut data: Value| {
            data["type"] = json!(name);
            data["index"] = json!(index);
            Event::named(name, &data)
        };
        events.push(named("content_block_start", json!({ "content_block": start })));
        let deltas: Vec<_> = match block {
            Block::Tool { .. } => fragments(&deltas).collect(),
            _ => pieces(&deltas).collect(),
        };
        for piece in deltas {
            let (kind, key) = field;
            events.push(named("content_block_delta", json!({ "delta": { "type": kind, key: piece } })));
        }
        if matches!(block, Block::Thinking(_)) {
            let signature = json!({ "delta": { "type": "signature_delta", "signature": "c2lnbmVk" } });
            events.push(named("content_block_delta", signature));
        }
        events.push(named("content_block_stop", json!({})));
    }
    let delta = json!({ "stop_reason": stop_reason(speech), "stop_sequence": null });
    events.push(Event::named(
        "message_delta",
        &json!({ "type": "message_delta", "delta": delta, "usage": usage(speech.usage) }),
    ));
    events.push(Event::named("message_stop", &json!({ "type": "message_stop" })));
    events
}

pub(super) fn whole(speech: &Speech<'_>) -> Value {
    let block = |(index, block): (usize, &Block)| match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking(text) => json!({ "type": "thinking", "thinking": text, "signature": "c2lnbmVk" }),
        Block::Tool { name, input } => {
            json!({ "type": "tool_use", "id": speech.id("toolu", index), "name": name, "input": input })
        }
        Block::Output(value) => json!({ "type": "text", "text": value.to_string() }),
    };
    let mut message = envelope(speech);
    message["content"] = speech.blocks().iter().enumerate().map(block).collect();
    message["stop_reason"] = json!(stop_reason(speech));
    message
}

fn envelope(speech: &Speech<'_>) -> Value {
    json!({
        "id": speech.id("msg", 0),
        "type": "message",
        "role": "assistant",
        "model": speech.request.model(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(speech.usage),
    })
}

fn stop_reason<'a>(speech: &Speech<'a>) -> &'a str {
    match speech.end {
        End::Cut => "max_tokens",
        End::Blocked => "refusal",
        End::Named(reason) => reason,
        End::Complete if speech.calls_a_tool() => "tool_use",
        End::Complete => "end_turn",
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.cache_written,
        "output_tokens": usage.output,
    })
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}
