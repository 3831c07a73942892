//! OpenAI Responses.

use serde_json::{Value, json};

use super::form::{Event, Speech, fragments, joined, pieces};
use super::reading::Reading;
use crate::message::{Message, Part, Role, string, text_of};
use crate::reaction::{Block, End};

pub(super) fn read(body: &Value) -> Reading {
    let items = match &body["input"] {
        Value::String(text) => &[json!({ "type": "message", "role": "user", "content": text })][..],
        Value::Array(items) => items,
        _ => &[],
    };
    let of_system = |item: &&Value| matches!(item["role"].as_str(), Some("system" | "developer"));
    let instructions = std::iter::once(string(body, "instructions"));
    let tools = body["tools"].as_array().into_iter().flatten();
    Reading {
        model: string(body, "model"),
        system: joined(instructions.chain(items.iter().filter(of_system).map(|item| text_of(&item["content"])))),
        messages: items.iter().filter_map(message).collect(),
        tools: tools
            .map(|tool| tool["name"].as_str().or(tool["type"].as_str()).unwrap_or_default().to_owned())
            .collect(),
        schema: body.pointer("/text/format/schema").cloned(),
        streams: body["stream"] == true,
    }
}

fn message(item: &Value) -> Option<Message> {
    let (role, parts) = match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let role = match item["role"].as_str()? {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                _ => return None,
            };
            let parts = match &item["content"] {
                Value::Array(parts) => parts.iter().map(|part| Part::Text(string(part, "text"))).collect(),
                content => vec![Part::Text(text_of(content))],
            };
            (role, parts)
        }
        "function_call" => {
            let input = serde_json::from_str(&string(item, "arguments")).unwrap_or(Value::Null);
            (Role::Assistant, vec![Part::Call { id: string(item, "call_id"), name: string(item, "name"), input }])
        }
        "custom_tool_call" => {
            let input = item["input"].clone();
            (Role::Assistant, vec![Part::Call { id: string(item, "call_id"), name: string(item, "name"), input }])
        }
        "function_call_output" | "custom_tool_call_output" => {
            (Role::User, vec![Part::Result { id: string(item, "call_id"), text: text_of(&item["output"]) }])
        }
        _ => return None,
    };
    Some(Message { role, parts })
}

/// The items that are calls: the type, the field of the arguments, and the events of its pieces and of its end.
const CALLS: [(&str, &str, &str, &str); 2] = [
    ("function_call", "arguments", "response.function_call_arguments.delta", "response.function_call_arguments.done"),
    ("custom_tool_call", "input", "response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"),
];

pub(super) fn events(speech: &Speech<'_>) -> Vec<Event> {
    let mut number = 0;
    let mut named = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(number);
        number += 1;
        Event::named(name, &data)
    };
    let started = json!({ "id": speech.id("resp", 0), "object": "response", "status": "in_progress", "output": [] });
    let mut events = vec![named("response.created", json!({ "response": started }))];
    for (index, item) in items(speech).into_iter().enumerate() {
        let id = item["id"].clone();
        let mut begun = item.clone();
        if item["type"] == "message" {
            begun["content"] = json!([]);
        }
        let call = CALLS.iter().find(|(kind, ..)| item["type"] == *kind);
        if let Some((_, field, ..)) = call {
            (begun[*field], begun["status"]) = (json!(""), json!("in_progress"));
        }
        events.push(named("response.output_item.added", json!({ "output_index": index, "item": begun })));
        if let Some(text) = item.pointer("/content/0/text").and_then(Value::as_str) {
            let at = json!({ "item_id": id, "output_index": index, "content_index": 0 });
            let with = |key: &str, value: Value| {
                let mut data = at.clone();
                data[key] = value;
                data
            };
            events.push(named("response.content_part.added", with("part", output_text(""))));
            for piece in pieces(text) {
                events.push(named("response.output_text.delta", with("delta", json!(piece))));
            }
            events.push(named("response.output_text.done", with("text", json!(text))));
            events.push(named("response.content_part.done", with("part", output_text(text))));
        }
        if let Some((_, field, delta, done)) = call {
            let arguments = string(&item, field);
            for piece in fragments(&arguments) {
                let fragment = json!({ "item_id": id, "output_index": index, "delta": piece });
                events.push(named(delta, fragment));
            }
            events.push(named(done, json!({ "item_id": id, "output_index": index, *field: arguments })));
        }
        events.push(named("response.output_item.done", json!({ "output_index": index, "item": item })));
    }
    let end = if incomplete(speech).is_some() { "response.incomplete" } else { "response.completed" };
    events.push(named(end, json!({ "response": whole(speech) })));
    events
}

pub(super) fn whole(speech: &Speech<'_>) -> Value {
    let usage = speech.usage;
    json!({
        "id": speech.id("resp", 0),
        "object": "response",
        "created_at": 0,
        "model": speech.request.model(),
        "status": if incomplete(speech).is_some() { "incomplete" } else { "completed" },
        "incomplete_details": incomplete(speech).map(|reason| json!({ "reason": reason })),
        "error": null,
        "output": items(speech),
        "usage": {
            "input_tokens": usage.input + usage.cached,
            "input_tokens_details": { "cached_tokens": usage.cached },
            "output_tokens": usage.output,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": usage.input + usage.cached + usage.output,
        },
    })
}

/// Why an answer is incomplete, if it is.
fn incomplete(speech: &Speech<'_>) -> Option<&'static str> {
    match speech.end {
        End::Cut => Some("max_output_tokens"),
        End::Blocked => Some("content_filter"),
        End::Complete | End::Named(_) => None,
    }
}

fn items(speech: &Speech<'_>) -> Vec<Value> {
    let item = |(index, block): (usize, Block)| match block {
        Block::Text(text) => message_item(speech, index, &text),
        Block::Output(value) => message_item(speech, index, &value.to_string()),
        Block::Thinking(text) => json!({
            "type": "reasoning",
            "id": speech.id("rs", index),
            "summary": [{ "type": "summary_text", "text": text }],
        }),
        Block::Tool { name, input: Value::String(input) } => json!({
            "type": "custom_tool_call",
            "id": speech.id("ctc", index),
            "call_id": speech.id("call", index),
            "name": name,
            "input": input,
            "status": "completed",
        }),
        Block::Tool { name, input } => json!({
            "type": "function_call",
            "id": speech.id("fc", index),
            "call_id": speech.id("call", index),
            "name": name,
            "arguments": input.to_string(),
            "status": "completed",
        }),
    };
    speech.blocks().into_iter().enumerate().map(item).collect()
}

fn message_item(speech: &Speech<'_>, index: usize, text: &str) -> Value {
    json!({
        "type": "message",
        "id": speech.id("msg", index),
        "role": "assistant",
        "status": "completed",
        "content": [output_text(text)],
    })
}

fn output_text(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [] })
}

/// The body of an error; Chat Completions uses the same form.
pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", "invalid_api_key"),
        404 => ("invalid_request_error", "model_not_found"),
        429 => ("requests", "rate_limit_exceeded"),
        500.. => ("server_error", "server_error"),
        _ => ("invalid_request_error", "invalid_request"),
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}
