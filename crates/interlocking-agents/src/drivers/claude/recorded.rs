//! Lines that the real program printed, shortened. Some of them a test cannot make it print.

use std::path::Path;
use std::sync::Mutex;

use serde_json::json;

use super::conclude::conclude;
use super::progress::Progress;
use super::schema::Asked;
use super::settings::{ClaudeSettings, Decisions};
use super::store::Store;
use crate::agent::TurnContext;
use crate::agent::error::{AgentError, AgentErrorKind, Disposition};
use crate::agent::event::AgentEvent;
use crate::agent::turn::{Reply, Turn};
use crate::conversation::activity::Activity;
use crate::conversation::interrupt::Interrupt;
use crate::drivers::event_meter::EventMeter;
use crate::program::{Call, Ended, Line, LineOutcome, LineProtocol};
use crate::schema::Schema;
use crate::sessions::session::{SessionId, SessionOp, Slug};
use crate::sessions::{SessionError, Sessions};

fn nowhere() -> Store {
    let settings = ClaudeSettings { home: Some("/no/such/store".into()), ..ClaudeSettings::default() };
    Store::new(&settings, None, None).unwrap()
}

const SESSION: &str = "78799592-0760-407e-b470-58bcb7b38a18";

const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/place","session_id":"78799592-0760-407e-b470-58bcb7b38a18","tools":["Bash"],"claude_code_version":"2.1.330"}"#;
const TEXT: &str = r#"{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"Hello."}],"usage":{"input_tokens":10}},"parent_tool_use_id":null,"session_id":"78799592-0760-407e-b470-58bcb7b38a18"}"#;
const SUCCESS: &str = r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Hello.","session_id":"78799592-0760-407e-b470-58bcb7b38a18","total_cost_usd":9.0,"model_usage_since_last_result":{"claude-haiku-5-5":{"inputTokens":10,"outputTokens":7,"costUSD":0.25}}}"#;

struct Told {
    events: Vec<AgentEvent>,
    done: Vec<usize>,
    is_working: bool,
    outcome: Result<Reply, AgentError>,
}

fn ended(exit: Option<i32>, stderr: &str) -> Call {
    Call { ended: Ended { exit, signal: None, stderr: stderr.to_owned(), survivors: 0 }, stop_reason: None }
}

/// Processes these lines in a fresh session.
fn play(lines: &[&str], call: Call, schema: Option<&Schema>) -> Told {
    let (sessions, session) = (Sessions::new(), SessionId::new(SESSION).unwrap());
    let turn = Turn { workspace: Some("/place".into()), ..Turn::fresh(Slug::new("write").unwrap(), "x") };
    let hold = sessions.hold(&turn.session, Some(Path::new("/place"))).unwrap();
    let (interrupt, idle, activity, kept) =
        (Interrupt::new(), Interrupt::new(), Activity::new(), Mutex::new(Vec::new()));
    let events = |event| kept.lock().unwrap().push(event);
    let meter = EventMeter::default();
    let context = TurnContext {
        hold: &hold,
        events: &events,
        interrupt: &interrupt,
        idle: &idle,
        activity: &activity,
        meter: &meter,
    };
    let store = nowhere();
    let mut progress = Progress::new(&context, turn.workspace.as_deref(), &store, session, false);
    let played: Vec<_> = lines.iter().map(|line| progress.on_line(Line::Whole(line.as_bytes()))).collect();
    let done =
        played.iter().enumerate().filter(|(_, played)| **played == LineOutcome::Done).map(|(index, _)| index).collect();
    let asked = schema.map(|schema| Asked::new(schema, Decisions::OneOf));
    let is_working = progress.is_working();
    let outcome = conclude(progress, call, asked.as_ref(), &turn);
    drop(hold);
    Told { events: kept.into_inner().unwrap(), done, is_working, outcome }
}

fn failure(lines: &[&str], call: Call) -> AgentError {
    play(lines, call, None).outcome.unwrap_err()
}

fn result(fields: serde_json::Value) -> String {
    let mut line = json!({ "type": "result", "session_id": SESSION, "model_usage_since_last_result": {} });
    line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    line.to_string()
}

#[test]
fn init_may_come_late_and_again_and_the_session_starts_once() {
    let played = play(&[TEXT, INIT, INIT, "not json", r#"{"type":"brand_new"}"#, SUCCESS], ended(Some(0), ""), None);
    let session = SessionId::new(SESSION).unwrap();
    assert_eq!(played.events, [AgentEvent::Started { session }, AgentEvent::Text { text: "Hello.".to_owned() }]);
    assert_eq!(played.done, [5]);
    assert_eq!(played.outcome.unwrap().usage.to_string(), "$0.25 in 1 call, 10 tokens in, 7 tokens out");
}

#[test]
fn a_second_result_is_paid_for_and_is_not_the_answer() {
    let background = result(json!({
        "subtype": "success", "is_error": false, "result": "A task has ended.", "origin": { "kind": "task-notification" },
        "model_usage_since_last_result": { "claude-haiku-5-5": { "inputTokens": 1, "outputTokens": 1, "costUSD": 0.5 } },
    }));
    for (lines, done) in [([SUCCESS, &background], 0), ([&background, SUCCESS], 1)] {
        let told = play(&lines, ended(Some(0), ""), None);
        assert_eq!(told.done, [done], "the call goes on until the requested turn has ended");
        let reply = told.outcome.unwrap();
        assert_eq!(reply.text.as_deref(), Some("Hello."));
        assert_eq!(reply.usage.to_string(), "$0.75 in 1 call, 11 tokens in, 8 tokens out");
    }
}

#[test]
fn failures_of_the_provider_are_told_apart() {
    let reason = || "as it was said".to_owned();
    let refused = || AgentErrorKind::Refused { reason: reason() };
    let limited = || AgentErrorKind::RateLimited { retry_after: None };
    for (terminal, status, called, kind) in [
        ("api_error", Some(400), "invalid_request", refused()),
        ("api_error", Some(400), "billing_error", refused()),
        ("api_error", Some(401), "authentication_failed", refused()),
        ("api_error", Some(403), "authentication_failed", refused()),
        ("api_error", Some(404), "model_not_found", refused()),
        ("api_error", Some(408), "unknown", AgentErrorKind::Connection { reason: reason() }),
        ("api_error", Some(429), "rate_limit", limited()),
        ("api_error", Some(500), "server_error", AgentErrorKind::Overloaded),
        ("api_error", Some(529), "server_error", AgentErrorKind::Overloaded),
        ("api_error", None, "rate_limit", limited()),
        ("api_error", None, "billing_error", refused()),
        ("api_error", None, "connection_failed", AgentErrorKind::Connection { reason: reason() }),
        ("api_error", None, "brand_new", AgentErrorKind::Connection { reason: reason() }),
        ("prompt_too_long", Some(400), "invalid_request", AgentErrorKind::PromptTooLong),
        ("blocking_limit", None, "invalid_request", AgentErrorKind::PromptTooLong),
        ("image_error", Some(413), "invalid_request", AgentErrorKind::PromptTooLong),
    ] {
        let said = json!({
            "type": "assistant", "session_id": SESSION, "error": called, "is_api_error_message": true,
            "message": { "role": "assistant", "model": "<synthetic>", "content": [{ "type": "text", "text": "as it was said" }] },
        });
        let end = result(json!({
            "subtype": "success", "is_error": true, "terminal_reason": terminal, "api_error_status": status, "result": "as it was said",
        }));
        let played = play(&[INIT, &said.to_string(), &end], ended(Some(1), ""), None);
        let error = played.outcome.unwrap_err();
        assert_eq!(*error.kind, kind, "{terminal} {status:?} {called}");
        assert_eq!(played.events.len(), 1, "the program's words are not the model's: {:?}", played.events);
        let resumes = matches!(error.disposition(), Disposition::ResumeSession { .. });
        assert_eq!(resumes, error.kind.is_provider_failure(), "{terminal} {status:?} {called}");
    }
}

#[test]
fn a_subscription_that_is_used_up_says_when_there_is_more() {
    let soon = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 600;
    let limit = json!({ "type": "rate_limit_event", "rate_limit_info": { "status": "rejected", "resetsAt": soon } });
    let end =
        result(json!({ "subtype": "success", "is_error": true, "api_error_status": 429, "result": "limit reached" }));
    let error = failure(&[INIT, TEXT, &limit.to_string(), &end], ended(Some(1), ""));
    let AgentErrorKind::RateLimited { retry_after: Some(wait) } = *error.kind else { panic!("{error:?}") };
    assert!((590..=600).contains(&wait.as_secs()), "{wait:?}");
}

#[test]
fn ends_of_other_kinds_are_told_apart() {
    let during = |reason: &str, errors: &[&str]| {
        result(
            json!({ "subtype": "error_during_execution", "is_error": true, "terminal_reason": reason, "errors": errors }),
        )
    };
    let gone = during("", &["No conversation found with session ID: 78799592-0760-407e-b470-58bcb7b38a18"]);
    let error = failure(&[&gone], ended(Some(1), ""));
    let session = SessionId::new(SESSION).unwrap();
    assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Unknown { session }));
    let error = failure(&[INIT, TEXT, &during("aborted_streaming", &["[ede_diagnostic]"])], ended(Some(1), ""));
    assert_eq!(*error.kind, AgentErrorKind::Cancelled);
    let error = failure(&[INIT, TEXT, &during("model_error", &["something broke"])], ended(Some(1), ""));
    assert_eq!(*error.kind, AgentErrorKind::Crashed { exit: Some(1), reason: "something broke".to_owned() });
    assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));
    let error =
        failure(&[INIT, TEXT, &result(json!({ "subtype": "error_brand_new", "is_error": true }))], ended(Some(1), ""));
    assert!(matches!(&*error.kind, AgentErrorKind::Crashed { .. }), "{error:?}");
}

#[test]
fn ends_without_a_result_are_told_apart() {
    let error = failure(&[], ended(Some(1), "error: unknown option '--nonsense'"));
    let reason = "error: unknown option '--nonsense'".to_owned();
    assert_eq!(*error.kind, AgentErrorKind::Configuration { reason });
    assert_eq!((error.usage.calls, error.session), (0, None), "nothing was called");
    for (lines, exit, session) in [(vec![INIT, TEXT], Some(1), true), (vec![INIT], None, false), (vec![], None, false)]
    {
        let error = failure(&lines, ended(exit, "killed"));
        assert_eq!(*error.kind, AgentErrorKind::Crashed { exit, reason: "killed".to_owned() });
        assert_eq!((error.usage.calls, error.usage.unpriced_calls), (1, 1));
        // A session that may not be written to its file yet cannot be continued.
        assert_eq!(error.session.is_some(), session);
    }
    // SIGHUP and SIGTERM, which the program handles.
    for code in [129, 143] {
        let error = failure(&[], ended(Some(code), ""));
        assert!(matches!(*error.kind, AgentErrorKind::Crashed { exit, .. } if exit == Some(code)), "{error:?}");
    }
    let stopped = Call { stop_reason: Some(AgentErrorKind::Cancelled), ..ended(None, "") };
    let error = failure(&[INIT, TEXT], stopped);
    assert_eq!((*error.kind, error.usage.unpriced_calls), (AgentErrorKind::Cancelled, 1));
}

/// The line that would have ended a tool or the turn may never be read.
#[test]
fn after_a_line_that_was_left_out_no_tool_runs_and_a_turn_can_end() {
    let tool = json!([{ "type": "tool_use", "id": "1", "name": "Bash", "input": { "command": "make" } }]);
    let tool =
        json!({ "type": "assistant", "session_id": SESSION, "message": { "role": "assistant", "content": tool } });
    let many = vec![0; 100_000];
    for (line, done) in [
        (json!({ "many": many, "type": "user" }), vec![]),
        (json!({ "many": many, "type": "result" }), vec![1]),
        (json!({ "many": many, "type": "result", "origin": { "kind": "task-notification" } }), vec![]),
    ] {
        let told = play(&[&tool.to_string(), &line.to_string()], ended(None, ""), None);
        assert_eq!((told.is_working, told.done), (false, done));
        assert!(told.outcome.unwrap_err().to_string().contains("was left out"));
    }
}

/// A tool that prints JSON to the program's output still runs.
#[test]
fn the_output_of_a_tool_is_no_event() {
    let tool = json!([{ "type": "tool_use", "id": "1", "name": "Bash", "input": { "command": "make" } }]);
    let tool = json!({ "type": "assistant", "message": { "role": "assistant", "content": tool } }).to_string();
    let told = play(&[INIT, &tool, r#"{"reason":"compiler-artifact"}"#, "{", "}"], ended(None, ""), None);
    assert!(told.is_working);
    assert!(!told.outcome.unwrap_err().to_string().contains("was left out"));
}

/// Programs that cut a text in the middle of a surrogate pair print the half.
#[test]
fn a_tool_that_ended_with_half_a_character_has_ended() {
    let tool = json!([{ "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": { "command": "make" } }]);
    let tool = json!({ "type": "assistant", "message": { "role": "assistant", "content": tool } }).to_string();
    let back =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"\ud83d"}]}}"#;
    let told = play(&[INIT, &tool, back], ended(None, ""), None);
    assert!(!told.is_working);
    assert!(told.events.iter().any(|event| matches!(event, AgentEvent::CommandRun { exit: Some(0), .. })));
}

#[test]
fn a_result_that_is_not_understood_ends_the_turn() {
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for field in [r#""errors":null"#, r#""result":1.5"#, &format!(r#""structured_output":{nested}"#)] {
        let line = format!(r#"{{"type":"result","subtype":"success",{field}}}"#);
        let told = play(&[INIT, &line], ended(None, ""), None);
        assert_eq!(told.done, [1], "{field}");
        let error = told.outcome.unwrap_err().to_string();
        assert!(error.contains("it is no event that is understood"), "{error}");
    }
}

/// An answer that arrived before the stop took effect is kept.
#[test]
fn an_answer_that_came_with_the_stop_counts() {
    let stopped = Call { stop_reason: Some(AgentErrorKind::Cancelled), ..ended(Some(0), "") };
    assert_eq!(play(&[INIT, TEXT, SUCCESS], stopped, None).outcome.unwrap().text.as_deref(), Some("Hello."));
}

#[test]
fn the_last_of_the_outputs_that_were_refused_is_what_is_corrected() {
    let schema = Schema::new(json!({ "type": "string" })).unwrap();
    let attempt = |value: serde_json::Value| {
        let content =
            json!([{ "type": "tool_use", "id": "toolu_1", "name": "StructuredOutput", "input": { "value": value } }]);
        json!({ "type": "assistant", "session_id": SESSION, "message": { "role": "assistant", "content": content } })
            .to_string()
    };
    let end = result(json!({
        "subtype": "error_max_structured_output_retries", "is_error": true,
        "terminal_reason": "structured_output_retry_exhausted", "errors": ["Failed to provide valid structured output after 5 attempts"],
    }));
    let (first, second) = (attempt(json!(1)), attempt(json!(2)));
    let reply = play(&[INIT, &first, &second, &end], ended(Some(1), ""), Some(&schema)).outcome.unwrap();
    assert_eq!(reply.output, Some(json!(2)));
    let none = play(&[INIT, &end], ended(Some(1), ""), Some(&schema)).outcome.unwrap();
    assert_eq!(none.output, None, "one without output, which is reminded of it");
}

#[test]
fn what_a_denied_or_failed_tool_did_is_not_reported_as_done() {
    let call = |id: &str, name: &str, input: serde_json::Value| {
        let content = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
        json!({ "type": "assistant", "session_id": SESSION, "message": { "role": "assistant", "content": content } })
            .to_string()
    };
    let back = |id: &str, content: serde_json::Value, is_error: bool| {
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error }]);
        json!({ "type": "user", "session_id": SESSION, "message": { "role": "user", "content": content } }).to_string()
    };
    let write = |path: &str| json!({ "file_path": path, "content": "x" });
    let lines = [
        call("1", "Write", write("/place/a/b.md")),
        back("1", json!("File created successfully at: /place/a/b.md"), false),
        call("2", "Write", write("/place/c.md")),
        back("2", json!("Permission to use Write has been denied because"), true),
        call("3", "Bash", json!({ "command": "make" })),
        back("3", json!([{ "type": "text", "text": "Exit code 2\nno rule" }]), true),
        call("4", "Bash", json!({ "command": "touch x" })),
        back("4", json!("Permission to use Bash has been denied because"), true),
        call("5", "Edit", json!({ "file_path": "/elsewhere/d.md" })),
        back("5", json!("done"), false),
        call("6", "Bash", json!({ "command": "sleep 9" })),
        back("6", json!("Command timed out after 2m 0s"), true),
        SUCCESS.to_owned(),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let events = play(&lines, ended(Some(0), ""), None).events;
    let done =
        events.into_iter().filter(|event| !matches!(event, AgentEvent::Started { .. } | AgentEvent::ToolUse { .. }));
    let run = |command: &str, exit| AgentEvent::CommandRun { command: vec![command.to_owned()], exit };
    let expected = [
        AgentEvent::FileWritten { path: "a/b.md".into() },
        run("make", Some(2)),
        AgentEvent::FileWritten { path: "/elsewhere/d.md".into() },
        run("sleep 9", None),
    ];
    assert_eq!(done.collect::<Vec<_>>(), expected);
}

#[test]
fn a_fork_that_is_another_session_than_was_asked_for_is_that_one() {
    let sessions = Sessions::new();
    let parent = SessionId::new("0b1ce9f0-76cf-4d8a-9a6e-0d3a5f4a8e11").unwrap();
    let fork = SessionOp::ForkFrom { parent: parent.clone(), slug: Slug::new("x").unwrap() };
    let hold = sessions.hold(&fork, None).unwrap();
    let (interrupt, idle, activity, events) =
        (Interrupt::new(), Interrupt::new(), Activity::new(), |_event: AgentEvent| {});
    let meter = EventMeter::default();
    let context = TurnContext {
        hold: &hold,
        events: &events,
        interrupt: &interrupt,
        idle: &idle,
        activity: &activity,
        meter: &meter,
    };
    let store = nowhere();
    let mut progress = Progress::new(&context, None, &store, SessionId::new(SESSION).unwrap(), false);
    let line = TEXT.replace(SESSION, parent.as_str());
    assert_eq!(progress.on_line(Line::Whole(line.as_bytes())), LineOutcome::Stop);
    let refused = progress.refused.unwrap();
    assert_eq!(*refused.kind, AgentErrorKind::Session(SessionError::NotForked { session: parent }));
}
