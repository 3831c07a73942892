//! Gemini `generateContent`.

use serde_json::{Value, json};

use super::form::{Event, Speech, pieces};
use super::reading::Reading;
use crate::message::{Message, Part, Role, string, text_of};
use crate::reaction::{Block, End};

pub(super) fn read(path: &str, body: &Value) -> Reading {
    let path = path.split('?').next().unwrap_or_default();
    let (model, method) = path.rsplit('/').next().and_then(|last| last.split_once(':')).unwrap_or_default();
    let declared = body["tools"].as_array().into_iter().flatten();
    let functions = declared.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten());
    let config = &body["generationConfig"];
    let schema = ["responseJsonSchema", "responseSchema"].into_iter().find_map(|field| config.get(field)).cloned();
    Reading {
        model: model.to_owned(),
        system: text_of(&body["systemInstruction"]["parts"]),
        messages: body["contents"].as_array().into_iter().flatten().map(message).collect(),
        tools: functions.map(|function| string(function, "name")).collect(),
        schema,
        streams: method == "streamGenerateContent",
    }
}

fn message(value: &Value) -> Message {
    let role = if value["role"] == "model" { Role::Assistant } else { Role::User };
    Message { role, parts: value["parts"].as_array().into_iter().flatten().filter_map(part).collect() }
}

fn part(value: &Value) -> Option<Part> {
    if let Some(text) = value["text"].as_str() {
        return (value["thought"] != true).then(|| Part::Text(text.to_owned()));
    }
    if let Some(call) = value.get("functionCall") {
        return Some(Part::Call { id: string(call, "id"), name: string(call, "name"), input: call["args"].clone() });
    }
    let response = value.get("functionResponse")?;
    let given = &response["response"];
    let text = given["output"].as_str().or(given["error"].as_str()).map_or_else(|| given.to_string(), str::to_owned);
    Some(Part::Result { id: string(response, "id"), text })
}

pub(super) fn streams_a_list(path: &str) -> bool {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    path.ends_with(":streamGenerateContent") && query.split('&').all(|parameter| parameter != "alt=sse")
}

pub(super) fn events(speech: &Speech<'_>) -> Vec<Event> {
    if *speech.end == End::Blocked {
        return vec![Event::of(&blocked(speech))];
    }
    let mut parts = Vec::new();
    for (index, block) in speech.blocks().iter().enumerate() {
        match block {
            Block::Text(text) => parts.extend(pieces(text).map(|piece| json!({ "text": piece }))),
            other => parts.push(part_of(speech, index, other)),
        }
    }
    let chunk = |parts: &[Value], finish: Option<&str>| {
        let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        Event::of(&envelope(speech, &candidate))
    };
    let mut events: Vec<_> = parts.iter().map(|part| chunk(std::slice::from_ref(part), None)).collect();
    events.push(chunk(&[json!({ "text": "" })], Some(finish_reason(speech))));
    events
}

pub(super) fn whole(speech: &Speech<'_>) -> Value {
    if *speech.end == End::Blocked {
        return blocked(speech);
    }
    let blocks = speech.blocks();
    let parts: Vec<_> = blocks.iter().enumerate().map(|(index, block)| part_of(speech, index, block)).collect();
    let content = json!({ "role": "model", "parts": parts });
    envelope(speech, &json!({ "index": 0, "content": content, "finishReason": finish_reason(speech) }))
}

fn part_of(speech: &Speech<'_>, index: usize, block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "text": text }),
        Block::Thinking(text) => json!({ "text": text, "thought": true }),
        Block::Tool { name, input } => {
            json!({ "functionCall": { "id": speech.id("call", index), "name": name, "args": input } })
        }
        Block::Output(value) => json!({ "text": value.to_string() }),
    }
}

/// The answer to a prompt that is blocked, which has no candidates.
fn blocked(speech: &Speech<'_>) -> Value {
    let mut answer = envelope(speech, &Value::Null);
    answer["promptFeedback"] = json!({ "blockReason": "PROHIBITED_CONTENT" });
    answer.as_object_mut().map(|fields| fields.remove("candidates"));
    answer
}

fn envelope(speech: &Speech<'_>, candidate: &Value) -> Value {
    let usage = speech.usage;
    json!({
        "candidates": [candidate],
        "modelVersion": speech.request.model(),
        "responseId": speech.id("resp", 0),
        "usageMetadata": {
            "promptTokenCount": usage.input + usage.cached,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.cached + usage.output,
        },
    })
}

fn finish_reason<'a>(speech: &Speech<'a>) -> &'a str {
    match speech.end {
        End::Complete | End::Blocked => "STOP",
        End::Cut => "MAX_TOKENS",
        End::Named(reason) => reason,
    }
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    json!({ "error": { "code": status, "message": message, "status": kind } })
}
