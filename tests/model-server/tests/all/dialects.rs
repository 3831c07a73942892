//! The same question, answer, call and result in every dialect.

use std::time::Duration;

use interlocking_model_server::{Block, Dialect, ModelServer, Part, Reaction, Request, Role, Rule, Script, Usage};
use serde_json::{Value, json};

use crate::wire::{Answer, post};

/// A dialect with a conversation in it that ends with the result of a call.
struct Case {
    dialect: Dialect,
    path: &'static str,
    body: Value,
}

fn cases(streams: bool) -> Vec<Case> {
    let schema = json!({ "type": "object", "properties": { "sum": { "type": "integer" } } });
    let gemini =
        if streams { "/v1beta/models/m-1:streamGenerateContent?alt=sse" } else { "/v1beta/models/m-1:generateContent" };
    vec![
        Case {
            dialect: Dialect::Anthropic,
            path: "/v1/messages?beta=true",
            body: json!({
                "model": "m-1",
                "stream": streams,
                "system": [{ "type": "text", "text": "Be" }, { "type": "text", "text": "brief." }],
                "tools": [{ "name": "add", "input_schema": {} }],
                "output_config": { "format": { "type": "json_schema", "schema": schema } },
                "messages": [
                    { "role": "user", "content": "Hello" },
                    { "role": "assistant", "content": "Hello." },
                    { "role": "user", "content": [
                        { "type": "text", "text": "<system-reminder>\nIt is late.\n</system-reminder>" },
                        { "type": "text", "text": "Add 1 and 2." },
                    ] },
                    { "role": "assistant", "content": [
                        { "type": "text", "text": "I add." },
                        { "type": "tool_use", "id": "c", "name": "add", "input": { "of": [1, 2] } },
                    ] },
                    { "role": "user", "content": [
                        { "type": "tool_result", "tool_use_id": "c", "content": [{ "type": "text", "text": "3" }] },
                        { "type": "text", "text": "<system-reminder>Be kind.</system-reminder>" },
                    ] },
                ],
            }),
        },
        Case {
            dialect: Dialect::Responses,
            path: "/v1/responses",
            body: json!({
                "model": "m-1",
                "stream": streams,
                "instructions": "Be",
                "tools": [{ "type": "function", "name": "add", "parameters": {} }],
                "text": { "format": { "type": "json_schema", "name": "n", "schema": schema } },
                "input": [
                    { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "brief." }] },
                    { "role": "user", "content": "Hello" },
                    { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Hello." }] },
                    { "type": "message", "role": "user", "content": [
                        { "type": "input_text", "text": "<environment_context>…</environment_context>" },
                    ] },
                    { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Add 1 and 2." }] },
                    { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I add." }] },
                    { "type": "function_call", "call_id": "c", "name": "add", "arguments": "{\"of\":[1,2]}" },
                    { "type": "function_call_output", "call_id": "c", "output": "3" },
                ],
            }),
        },
        Case {
            dialect: Dialect::Chat,
            path: "/v1/chat/completions",
            body: json!({
                "model": "m-1",
                "stream": streams,
                "stream_options": { "include_usage": true },
                "tools": [{ "type": "function", "function": { "name": "add", "parameters": {} } }],
                "response_format": { "type": "json_schema", "json_schema": { "name": "n", "schema": schema } },
                "messages": [
                    { "role": "system", "content": "Be" },
                    { "role": "developer", "content": [{ "type": "text", "text": "brief." }] },
                    { "role": "user", "content": "Hello" },
                    { "role": "assistant", "content": "Hello." },
                    { "role": "user", "content": [{ "type": "text", "text": "Add 1 and 2." }] },
                    { "role": "assistant", "content": "I add.", "tool_calls": [
                        { "id": "c", "type": "function", "function": { "name": "add", "arguments": "{\"of\":[1,2]}" } },
                    ] },
                    { "role": "tool", "tool_call_id": "c", "content": "3" },
                ],
            }),
        },
        Case {
            dialect: Dialect::Gemini,
            path: gemini,
            body: json!({
                "systemInstruction": { "role": "user", "parts": [{ "text": "Be" }, { "text": "brief." }] },
                "tools": [{ "functionDeclarations": [{ "name": "add", "parametersJsonSchema": {} }] }],
                "generationConfig": { "responseJsonSchema": schema },
                "contents": [
                    { "role": "user", "parts": [{ "text": "Hello" }] },
                    { "role": "model", "parts": [{ "text": "Hello." }] },
                    { "role": "user", "parts": [{ "text": "Add 1 and 2." }] },
                    { "role": "model", "parts": [
                        { "text": "hm", "thought": true },
                        { "text": "I add." },
                        { "functionCall": { "id": "c", "name": "add", "args": { "of": [1, 2] } } },
                    ] },
                    { "role": "user", "parts": [
                        { "functionResponse": { "id": "c", "name": "add", "response": { "output": "3" } } },
                    ] },
                ],
            }),
        },
    ]
}

async fn ask(server: &ModelServer, case: &Case) -> Answer {
    post(server.address(), case.path, &case.body.to_string(), Duration::from_secs(20)).await
}

#[tokio::test]
async fn a_request_means_the_same_in_every_dialect() {
    for streams in [false, true] {
        let server = ModelServer::start(Script::new().rule(Rule::told("3").reply(Reaction::text("3.")))).unwrap();
        for case in cases(streams) {
            assert_eq!(ask(&server, &case).await.status, Some(200), "{:?}", case.dialect);
        }
        server.assert_all_matched();
        for (request, case) in server.requests().iter().zip(cases(streams)) {
            assert_eq!(request.dialect, case.dialect);
            means_what_it_says(request, streams);
        }
    }
}

fn means_what_it_says(request: &Request, streams: bool) {
    let dialect = request.dialect;
    assert_eq!(request.model(), "m-1", "{dialect:?}");
    assert_eq!(request.streams(), streams, "{dialect:?}");
    assert_eq!(request.system(), "Be\nbrief.", "{dialect:?}");
    assert_eq!(request.prompt(), "Add 1 and 2.", "{dialect:?}");
    assert_eq!(request.prompts(), ["Hello", "Add 1 and 2."], "{dialect:?}");
    assert_eq!((request.results(), request.last_results()), (vec!["3"], vec!["3"]), "{dialect:?}");
    assert!(request.offers("add") && request.tools().len() == 1, "{dialect:?}");
    assert_eq!(request.schema().unwrap()["properties"]["sum"]["type"], "integer", "{dialect:?}");
    assert_eq!(request.header("x-api-key"), Some("k"));
    let parts: Vec<_> = request.messages().iter().flat_map(|message| &message.parts).collect();
    let call = Part::Call { id: "c".into(), name: "add".into(), input: json!({ "of": [1, 2] }) };
    assert!(parts.contains(&&call), "{dialect:?}");
    assert!(parts.contains(&&Part::Result { id: "c".into(), text: "3".into() }), "{dialect:?}");
    assert!(request.messages().iter().any(|message| message.role == Role::Assistant), "{dialect:?}");
}

#[tokio::test]
async fn an_answer_comes_whole() {
    let server = ModelServer::start(Script::computed(|_| said())).unwrap();
    for case in cases(false) {
        let answer = ask(&server, &case).await.json();
        let shown = match case.dialect {
            Dialect::Anthropic => json!([
                answer["content"][1]["text"],
                answer["content"][2]["name"],
                answer["content"][2]["input"],
                answer["usage"]["input_tokens"],
                answer["usage"]["output_tokens"],
                answer["stop_reason"],
            ]),
            Dialect::Responses => json!([
                answer["output"][1]["content"][0]["text"],
                answer["output"][2]["name"],
                inner(&answer["output"][2]["arguments"]),
                answer["usage"]["input_tokens"],
                answer["usage"]["output_tokens"],
                answer["status"],
            ]),
            Dialect::Chat => {
                let message = &answer["choices"][0]["message"];
                assert!(message["tool_calls"][0]["index"].is_null(), "only a stream has it");
                let function = &message["tool_calls"][0]["function"];
                json!([
                    message["content"],
                    function["name"],
                    inner(&function["arguments"]),
                    answer["usage"]["prompt_tokens"],
                    answer["usage"]["completion_tokens"],
                    answer["choices"][0]["finish_reason"],
                ])
            }
            Dialect::Gemini => {
                let parts = &answer["candidates"][0]["content"]["parts"];
                json!([
                    parts[1]["text"],
                    parts[2]["functionCall"]["name"],
                    parts[2]["functionCall"]["args"],
                    answer["usageMetadata"]["promptTokenCount"],
                    answer["usageMetadata"]["candidatesTokenCount"],
                    answer["candidates"][0]["finishReason"],
                ])
            }
        };
        let end = match case.dialect {
            Dialect::Anthropic => "tool_use",
            Dialect::Responses => "completed",
            Dialect::Chat => "tool_calls",
            Dialect::Gemini => "STOP",
        };
        assert_eq!(shown, json!(["Äh, well.", "add", { "of": [3, 4] }, 7, 11, end]), "{:?}", case.dialect);
    }
}

fn said() -> Reaction {
    let call = Block::Tool { name: "add".into(), input: json!({ "of": [3, 4] }) };
    let blocks = [Block::Thinking("hm".into()), Block::Text("Äh, well.".into()), call];
    Reaction::blocks(blocks).with_usage(Usage { input: 7, cached: 0, cache_written: 0, output: 11 })
}

fn inner(value: &Value) -> Value {
    serde_json::from_str(value.as_str().unwrap()).unwrap()
}

/// The strings at `place` in these events, concatenated.
fn concatenated(events: &[Value], place: &str) -> String {
    events.iter().filter_map(|event| event.pointer(place).and_then(Value::as_str)).collect()
}

#[tokio::test]
async fn a_long_text_is_streamed_in_pieces_that_add_up() {
    let text = "Ä long text, mostly. ".repeat(1000);
    let long = text.clone();
    let server = ModelServer::start(Script::computed(move |_| Reaction::text(&long))).unwrap();
    for case in cases(true) {
        let answer = ask(&server, &case).await;
        assert!(answer.whole && answer.head.contains("text/event-stream"), "{}", answer.head);
        let events = answer.events();
        assert!(events.len() > 10, "{:?}: {}", case.dialect, events.len());
        let place = match case.dialect {
            Dialect::Anthropic => "/delta/text",
            Dialect::Responses => "/delta",
            Dialect::Chat => "/choices/0/delta/content",
            Dialect::Gemini => "/candidates/0/content/parts/0/text",
        };
        assert_eq!(concatenated(&events, place), text, "{:?}", case.dialect);
    }
}

#[tokio::test]
async fn a_call_is_streamed() {
    let server = ModelServer::start(Script::computed(|_| said())).unwrap();
    for case in cases(true) {
        let events = ask(&server, &case).await.events();
        let at = |place: &str| events.iter().find_map(|event| event.pointer(place)).unwrap_or(&Value::Null).clone();
        let (name, input) = match case.dialect {
            Dialect::Anthropic => {
                let input = concatenated(&events, "/delta/partial_json");
                (at("/content_block/name"), serde_json::from_str(&input).unwrap())
            }
            Dialect::Responses => {
                let deltas = events.iter().filter(|it| it["type"] == "response.function_call_arguments.delta");
                let deltas: Vec<_> = deltas.cloned().collect();
                assert!(deltas.len() > 1, "in pieces");
                assert_eq!(at("/item/arguments"), "", "none at its beginning");
                (at("/item/name"), inner(&json!(concatenated(&deltas, "/delta"))))
            }
            Dialect::Chat => {
                let place = "/choices/0/delta/tool_calls/0";
                let calls: Vec<&Value> = events.iter().filter_map(|event| event.pointer(place)).collect();
                assert!(calls.len() > 2 && calls.iter().all(|call| call["index"] == 0), "in pieces: {calls:?}");
                assert!(calls[1..].iter().all(|call| call["id"].is_null() && call["function"]["name"].is_null()));
                let arguments = concatenated(&events, &format!("{place}/function/arguments"));
                (calls[0]["function"]["name"].clone(), inner(&json!(arguments)))
            }
            Dialect::Gemini => {
                let call = at("/candidates/0/content/parts/0/functionCall");
                (call["name"].clone(), call["args"].clone())
            }
        };
        assert_eq!((name, input), (json!("add"), json!({ "of": [3, 4] })), "{:?}", case.dialect);
    }
}

#[tokio::test]
async fn an_output_is_what_the_dialect_makes_of_it() {
    let server = ModelServer::start(Script::computed(|_| Reaction::output(json!({ "sum": 3 })))).unwrap();
    for mut case in cases(false) {
        if case.dialect == Dialect::Anthropic {
            case.body["tools"] = json!([{ "name": "StructuredOutput", "input_schema": { "title": "of the tool" } }]);
            let answer = ask(&server, &case).await.json();
            assert_eq!(answer["content"][0]["input"], json!({ "sum": 3 }));
            assert_eq!(answer["content"][0]["name"], "StructuredOutput");
            assert_eq!(server.requests()[0].schema(), Some(&json!({ "title": "of the tool" })));
        } else {
            let answer = ask(&server, &case).await;
            assert!(answer.body.contains(r#""{\"sum\":3}""#), "{:?}: {}", case.dialect, answer.body);
        }
    }
}

#[tokio::test]
async fn an_error_has_the_form_of_the_dialect() {
    let refused = || Reaction::status(429, "slow down").with_header("retry-after", "7");
    let server = ModelServer::start(Script::computed(move |_| refused())).unwrap();
    for case in cases(true) {
        let answer = ask(&server, &case).await;
        assert_eq!(answer.status, Some(429));
        assert!(answer.head.contains("retry-after: 7"), "{}", answer.head);
        let error = &answer.json()["error"];
        assert_eq!(error["message"], "slow down");
        let kind = match case.dialect {
            Dialect::Anthropic => ("type", "rate_limit_error"),
            Dialect::Responses | Dialect::Chat => ("code", "rate_limit_exceeded"),
            Dialect::Gemini => ("status", "RESOURCE_EXHAUSTED"),
        };
        assert_eq!(error[kind.0], kind.1);
    }
}

#[tokio::test]
async fn a_prompt_is_blocked_in_the_words_of_the_dialect() {
    let server = ModelServer::start(Script::computed(|_| Reaction::blocked())).unwrap();
    for streams in [false, true] {
        for case in cases(streams) {
            let answer = ask(&server, &case).await.body;
            let word = match case.dialect {
                Dialect::Anthropic => "\"refusal\"",
                Dialect::Responses | Dialect::Chat => "\"content_filter\"",
                Dialect::Gemini => "\"blockReason\"",
            };
            assert!(answer.contains(word) && !answer.contains("candidates\""), "{:?}: {answer}", case.dialect);
        }
    }
}

#[tokio::test]
async fn gemini_streams_events_only_when_asked_for_them() {
    let server = ModelServer::start(Script::computed(|_| Reaction::text("Hello."))).unwrap();
    let mut case = cases(true).pop().unwrap();
    assert_eq!(case.dialect, Dialect::Gemini);
    case.path = "/v1beta/models/m-1:streamGenerateContent";
    let answer = ask(&server, &case).await;
    assert_eq!(answer.status, Some(400));
    assert!(answer.body.contains("alt=sse") && server.notes()[0].contains("alt=sse"), "{}", answer.body);
}
