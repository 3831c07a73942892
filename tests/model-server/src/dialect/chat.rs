//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::form::{Event, Speech, fragments, joined, pieces};
use super::reading::Reading;
use crate::message::{Message, Part, Role, string, text_of};
use crate::reaction::{Block, End};

pub(super) fn read(body: &Value) -> Reading {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_system = |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    let tools = body["tools"].as_array().into_iter().flatten();
    Reading {
        model: string(body, "model"),
        system: joined(messages.iter().filter(of_system).map(|message| text_of(&message["content"]))),
        messages: messages.iter().filter_map(message).collect(),
        tools: tools.map(|tool| string(&tool["function"], "name")).collect(),
        schema: body.pointer("/response_format/json_schema/schema").cloned(),
        streams: body["stream"] == true,
    }
}

fn message(value: &Value) -> Option<Message> {
    let text = || match &value["content"] {
        Value::Array(parts) => parts.iter().map(|part| Part::Text(string(part, "text"))).collect(),
        Value::Null => Vec::new(),
        content => vec![Part::Text(text_of(content))],
    };
    let (role, parts) = match value["role"].as_str()? {
        "user" => (Role::User, text()),
        "assistant" => {
            let calls = value["tool_calls"].as_array().into_iter().flatten().map(|call| Part::Call {
                id: string(call, "id"),
                name: string(&call["function"], "name"),
                input: serde_json::from_str(&string(&call["function"], "arguments")).unwrap_or(Value::Null),
            });
            (Role::Assistant, text().into_iter().chain(calls).collect())
        }
        "tool" => {
            let result = Part::Result { id: string(value, "tool_call_id"), text: text_of(&value["content"]) };
            (Role::User, vec![result])
        }
        _ => return None,
    };
    Some(Message { role, parts })
}

pub(super) fn events(speech: &Speech<'_>) -> Vec<Event> {
    let chunk = |delta: Value, finish: Value| {
        Event::of(&json!({
            "id": speech.id("chatcmpl", 0),
            "object": "chat.completion.chunk",
            "created": 0,
            "model": speech.request.model(),
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        }))
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    let mut calls = 0;
    for (index, block) in speech.blocks().iter().enumerate() {
        match block {
            Block::Text(text) => {
                events.extend(pieces(text).map(|piece| chunk(json!({ "content": piece }), Value::Null)));
            }
            Block::Thinking(text) => events.push(chunk(json!({ "reasoning_content": text }), Value::Null)),
            Block::Tool { name, input } => {
                // The first piece has the id and the name, and all have the number among the calls.
                let mut begun = call(speech, index, name, "");
                begun["index"] = json!(calls);
                events.push(chunk(json!({ "tool_calls": [begun] }), Value::Null));
                let fragment = |text: &str| json!({ "index": calls, "function": { "arguments": text } });
                let fragments: Vec<_> = fragments(&input.to_string()).map(fragment).collect();
                events.extend(fragments.into_iter().map(|it| chunk(json!({ "tool_calls": [it] }), Value::Null)));
                calls += 1;
            }
            Block::Output(_) => {}
        }
    }
    events.push(chunk(json!({}), json!(finish_reason(speech))));
    if speech.request.body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)) {
        events.push(Event::of(&json!({
            "id": speech.id("chatcmpl", 0),
            "object": "chat.completion.chunk",
            "created": 0,
            "model": speech.request.model(),
            "choices": [],
            "usage": usage(speech),
        })));
    }
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}

pub(super) fn whole(speech: &Speech<'_>) -> Value {
    let blocks = speech.blocks();
    let texts: Vec<_> = blocks
        .iter()
        .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
        .collect();
    let calls: Vec<_> = blocks
        .iter()
        .enumerate()
        .filter_map(|(index, block)| match block {
            Block::Tool { name, input } => Some(call(speech, index, name, &input.to_string())),
            _ => None,
        })
        .collect();
    let content = if texts.is_empty() { Value::Null } else { json!(texts.concat()) };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": speech.id("chatcmpl", 0),
        "object": "chat.completion",
        "created": 0,
        "model": speech.request.model(),
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason(speech) }],
        "usage": usage(speech),
    })
}

fn call(speech: &Speech<'_>, index: usize, name: &str, arguments: &str) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    json!({ "id": speech.id("call", index), "type": "function", "function": function })
}

fn finish_reason<'a>(speech: &Speech<'a>) -> &'a str {
    match speech.end {
        End::Cut => "length",
        End::Blocked => "content_filter",
        End::Named(reason) => reason,
        End::Complete if speech.calls_a_tool() => "tool_calls",
        End::Complete => "stop",
    }
}

fn usage(speech: &Speech<'_>) -> Value {
    let usage = speech.usage;
    json!({
        "prompt_tokens": usage.input + usage.cached,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.cached + usage.output,
    })
}
