use std::time::Duration;

use interlocking_agents::{
    AgentError, AgentErrorKind, CallGate, CallPermit, CallRefused, Conversation, Disposition, HttpModel, HttpPrices,
    HttpProvider, HttpSettings, NoEvents, Usage,
};
use interlocking_model_server::{ModelServer, Reaction, Rule, Script};

use crate::common::{PROVIDERS, always, fresh, key, model, run, settings};

async fn failed(provider: HttpProvider, reaction: Reaction) -> AgentError {
    let server = always(reaction);
    let error = run(&model(&server, provider), fresh("?")).await.unwrap_err();
    assert_eq!(error.usage.calls, 1, "{error:?}");
    assert!(error.session.is_some());
    error
}

/// The meaning of a status is the same for every provider.
#[tokio::test]
async fn a_status_is_a_typed_error() {
    for provider in PROVIDERS {
        for status in [400, 401, 402, 403, 404, 409] {
            let error = failed(provider, Reaction::status(status, "no such thing")).await;
            let refused = AgentErrorKind::Refused { reason: format!("{status}: no such thing") };
            assert_eq!(*error.kind, refused, "{provider}");
            assert_eq!((error.disposition(), error.usage.unpriced_calls), (Disposition::GiveUp, 0));
        }
        for status in [500, 502, 503, 529] {
            let error = failed(provider, Reaction::status(status, "oops")).await;
            assert_eq!(*error.kind, AgentErrorKind::Overloaded, "{provider} {status}");
            assert!(error.kind.is_provider_failure());
        }
        for (header, value, retry_after) in [
            ("retry-after", "7", Some(Duration::from_secs(7))),
            ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
            ("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", None),
            ("x-nothing", "1", None),
        ] {
            let error = failed(provider, Reaction::status(429, "slower").with_header(header, value)).await;
            assert_eq!(*error.kind, AgentErrorKind::RateLimited { retry_after }, "{provider} {header}");
            assert!(matches!(error.disposition(), Disposition::ResumeSession { after, .. } if after == retry_after));
        }
        assert_eq!(*failed(provider, Reaction::status(413, "too big")).await.kind, AgentErrorKind::PromptTooLong);
        let moved = failed(provider, Reaction::status(308, "").with_header("location", "http://127.0.0.1:1/")).await;
        assert!(
            matches!(&*moved.kind, AgentErrorKind::Configuration { reason } if reason.contains("base_url")),
            "{moved}"
        );
    }
}

#[tokio::test]
async fn a_context_that_is_full_is_told_from_other_bad_requests() {
    for (provider, words) in [
        (HttpProvider::Anthropic, "prompt is too long: 210000 tokens > 200000 maximum"),
        (HttpProvider::Anthropic, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
        (HttpProvider::OpenAi, "This model's maximum context length is 128000 tokens. However, you requested 130000"),
        (HttpProvider::OpenAiResponses, "Your input exceeds the context window of this model."),
        (
            HttpProvider::Gemini,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
    ] {
        let error = failed(provider, Reaction::status(400, words)).await;
        assert_eq!(*error.kind, AgentErrorKind::PromptTooLong, "{provider}");
        assert_eq!(error.disposition(), Disposition::GiveUp);
    }
}

/// A 429 for which waiting does not help.
#[tokio::test]
async fn an_empty_account_is_no_rate_limit() {
    let body = r#"{"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}"#;
    let (address, _serving) = raw_server(&format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    let settings = HttpSettings { base_url: Some(address), ..HttpSettings::new(HttpProvider::OpenAi, "model-x") };
    let error = run(&HttpModel::new(settings).with_key(key()), fresh("?")).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Refused { reason: "429: You exceeded your current quota".to_owned() });
}

/// A server that sends the same answer to every connection, and its address.
fn raw_server(answer: &str) -> (String, std::thread::JoinHandle<()>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let answer = answer.to_owned();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        // The request's body is JSON, and ends with a brace.
        while !heard.ends_with(b"}") {
            let count = stream.read(&mut buffer).unwrap();
            heard.extend_from_slice(&buffer[..count]);
        }
        stream.write_all(answer.as_bytes()).unwrap();
    });
    (address, serving)
}

#[tokio::test]
async fn a_broken_connection_is_one() {
    for provider in PROVIDERS {
        for (what, reaction) in [
            ("hangup", Reaction::hangup()),
            ("drop", Reaction::text("yes").dropped_after(1)),
            ("truncated", Reaction::text("yes").truncated_after(1)),
        ] {
            let error = failed(provider, reaction).await;
            assert!(matches!(*error.kind, AgentErrorKind::Connection { .. }), "{provider} {what}: {error:?}");
            assert_eq!(error.usage.unpriced_calls, 1, "{provider} {what}: it may have begun");
        }
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let base_url = Some(format!("http://{nobody}/v1"));
    let settings = HttpSettings { base_url, ..HttpSettings::new(HttpProvider::OpenAi, "model-x") };
    let error = run(&HttpModel::new(settings).with_key(key()), fresh("?")).await.unwrap_err();
    assert!(error.to_string().to_lowercase().contains("connection refused"), "{error}");
    assert!(matches!(*error.kind, AgentErrorKind::Connection { .. }));
    assert_eq!(error.usage.unpriced_calls, 0, "nobody was asked");
}

#[tokio::test]
async fn an_answer_that_is_none_is_asked_for_again() {
    // The number of the event with the text. The HTTP crate drops it for OpenAI's Responses, and treats the rest as the
    // answer.
    for (provider, event) in PROVIDERS.into_iter().zip([2, 1, 3, 0]) {
        for reaction in
            [Reaction::text("yes").garbled_at(event), Reaction::raw("text/event-stream", "data: \u{1}{\n\n")]
        {
            let error = failed(provider, reaction).await;
            assert!(
                matches!(
                    *error.kind,
                    AgentErrorKind::Other { transient: true, .. } | AgentErrorKind::Connection { .. }
                ),
                "{provider}: {error:?}"
            );
            assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));
        }
        let broken_text = failed(provider, Reaction::raw("text/event-stream", b"data: \xff\xfe\n\n".to_vec())).await;
        assert!(matches!(broken_text.disposition(), Disposition::ResumeSession { .. }), "{provider}: {broken_text:?}");
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_says_by_what() {
    for provider in PROVIDERS {
        let server = always(Reaction::text("Once upon a").cut_off());
        let prices = Some(HttpPrices { input: 10_000.0, output: 100_000.0, cached_input: None });
        let settings = HttpSettings { max_tokens: Some(3), prices, ..settings(&server, provider) };
        let error = run(&HttpModel::new(settings).with_key(key()), fresh("?")).await.unwrap_err();
        assert!(error.to_string().contains("cut off by `max_tokens` = 3"), "{provider}: {error}");
        assert_eq!(error.usage.to_string(), "$2.00 in 1 call, 100 tokens in, 10 tokens out", "it is paid for");
        assert_eq!(error.disposition(), Disposition::GiveUp);
    }
}

#[tokio::test]
async fn a_blocked_prompt_is_refused() {
    for provider in PROVIDERS {
        let error = failed(provider, Reaction::blocked()).await;
        let is_refused = matches!(&*error.kind, AgentErrorKind::Refused { reason } if reason.contains("no answer"));
        assert!(is_refused, "{provider}: {error}");
        assert_eq!(error.disposition(), Disposition::GiveUp, "{provider}");
    }
}

/// Gemini ends an answer in good order although the call in it cannot be read.
#[tokio::test]
async fn an_answer_whose_call_is_malformed_is_asked_for_again() {
    for reason in ["MALFORMED_FUNCTION_CALL", "OTHER"] {
        let error = failed(HttpProvider::Gemini, Reaction::blocks([]).finished(reason)).await;
        assert!(error.to_string().contains(reason), "{error}");
        assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }), "{error:?}");
    }
}

/// Errors that arrive after the answer has begun.
#[tokio::test]
async fn an_error_in_mid_stream_is_understood() {
    let anthropic = |kind: &str| {
        format!(
            "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"sorry\"}}}}\n\n"
        )
    };
    let openai = |kind: &str| format!("data: {{\"error\":{{\"type\":\"{kind}\",\"message\":\"sorry\"}}}}\n\n");
    let gemini =
        |status: &str| format!("data: {{\"error\":{{\"status\":\"{status}\",\"message\":\"sorry\",\"code\":1}}}}\n\n");
    let responses = |fields: &str| {
        let name = if fields.contains("failed") { "response.failed" } else { "response.incomplete" };
        format!(
            "event: {name}\ndata: {{\"type\":\"{name}\",\"response\":{{\"id\":\"r\",\"model\":\"m\",\"output\":[],{fields}}}}}\n\n"
        )
    };
    let filtered = AgentErrorKind::Refused { reason: "the model gives no answer to this (content_filter)".to_owned() };
    let (limited, refused) =
        (AgentErrorKind::RateLimited { retry_after: None }, AgentErrorKind::Refused { reason: "sorry".to_owned() });
    for (provider, event, kind) in [
        (HttpProvider::Anthropic, anthropic("overloaded_error"), &AgentErrorKind::Overloaded),
        (HttpProvider::Anthropic, anthropic("rate_limit_error"), &limited),
        (HttpProvider::Anthropic, anthropic("invalid_request_error"), &refused),
        (HttpProvider::OpenAi, openai("server_error"), &AgentErrorKind::Overloaded),
        (HttpProvider::OpenAi, openai("rate_limit_exceeded"), &limited),
        (
            HttpProvider::OpenAiResponses,
            responses(r#""status":"failed","error":{"code":"server_error","message":"sorry"}"#),
            &AgentErrorKind::Overloaded,
        ),
        (
            HttpProvider::OpenAiResponses,
            responses(r#""status":"failed","error":{"code":"rate_limit_exceeded","message":"sorry"}"#),
            &limited,
        ),
        (
            HttpProvider::OpenAiResponses,
            responses(r#""status":"incomplete","error":null,"incomplete_details":{"reason":"content_filter"}"#),
            &filtered,
        ),
        (HttpProvider::Gemini, gemini("UNAVAILABLE"), &AgentErrorKind::Overloaded),
        (HttpProvider::Gemini, gemini("RESOURCE_EXHAUSTED"), &limited),
        (HttpProvider::Gemini, gemini("INVALID_ARGUMENT"), &refused),
    ] {
        let error = failed(provider, Reaction::raw("text/event-stream", event.clone())).await;
        assert_eq!(&*error.kind, kind, "{provider} {event}");
        assert_eq!(error.usage.unpriced_calls, 1);
    }
}

/// A piece that is JSON, but not of the form that the HTTP crate expects; the HTTP crate continues without it.
#[tokio::test]
async fn an_answer_with_a_hole_in_it_is_none() {
    let events = |delta: &str| {
        let piece = |name: &str, fields: &str| format!("event: {name}\ndata: {{\"type\":\"{name}\",{fields}}}\n\n");
        let output = r#"[{"type":"message","content":[{"type":"output_text","text":"not so"}]}]"#;
        let end = format!(r#""response":{{"id":"r","model":"m","status":"completed","output":{output}}}"#);
        piece("response.output_text.delta", &format!("\"delta\":{delta}"))
            + &piece("response.output_text.delta", "\"delta\":\"so\"")
            + &piece("response.completed", &end)
    };
    let server = always(Reaction::raw("text/event-stream", events("\"not \"")));
    let completion = run(&model(&server, HttpProvider::OpenAiResponses), fresh("?")).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("not so"));
    let error = failed(HttpProvider::OpenAiResponses, Reaction::raw("text/event-stream", events("[\"not \"]"))).await;
    assert!(error.to_string().contains("a piece is missing"), "{error}");
    assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));
}

/// Permits every call, and requests a retry for every failure.
struct Thrice;

#[async_trait::async_trait]
impl CallGate for Thrice {
    async fn acquire(&self, _agent: &str) -> Result<Box<dyn CallPermit + '_>, CallRefused> {
        Ok(Box::new(Self))
    }
}

impl CallPermit for Thrice {
    fn ended(self: Box<Self>, outcome: Result<Usage, &AgentError>) -> bool {
        outcome.is_err()
    }
}

#[tokio::test]
async fn a_429_and_then_an_answer() {
    for provider in PROVIDERS {
        let script = Script::new()
            .rule(Rule::any().times(2).reply(Reaction::status(429, "slower")))
            .rule(Rule::any().reply(Reaction::text("yes")));
        let server = ModelServer::start(script).unwrap();
        let model = model(&server, provider);
        let conversation = Conversation::new(&model).with_call_gate(&Thrice);
        let completion = conversation.run(fresh("?"), &NoEvents).await.unwrap();
        assert_eq!((completion.text.as_deref(), completion.usage.calls), (Some("yes"), 3));
        assert_eq!(server.requests().len(), 3, "{provider}: nobody repeats requests behind our back");
    }
}
