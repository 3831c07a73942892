//! A provider's failures, case by case, and what to do about each.

use std::time::{Duration, Instant};

use interlocking_agents::{AgentErrorKind, AgentEvent, Codex, CodexSettings, Conversation, Disposition, Nudges};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::place::{Events, Place, run};

/// Within this the program has begun its turn, also on a busy machine.
const BUSY_START: Duration = Duration::from_secs(5);

/// How a turn fails, and the remedy: `retry`, `resume` or `give up`.
async fn failure(place: &Place, codex: &Codex) -> (AgentErrorKind, &'static str, Vec<AgentEvent>) {
    let (outcome, events) = run(codex, place.fresh("go")).await;
    let error = outcome.unwrap_err();
    let remedy = match error.disposition() {
        Disposition::Retry { .. } => "retry",
        Disposition::ResumeSession { .. } => "resume",
        Disposition::GiveUp => "give up",
    };
    assert_eq!(error.usage.unpriced_calls, error.usage.calls);
    (*error.kind, remedy, events)
}

async fn failure_of(reaction: Reaction) -> Option<(AgentErrorKind, &'static str, Vec<AgentEvent>)> {
    let place = Place::new(Script::new().rule(Rule::any().reply(reaction)))?;
    Some(failure(&place, &place.codex()).await)
}

/// What a provider sends if the answer fails after it has begun.
fn failed(code: &str, message: &str) -> Reaction {
    let event = |kind: &str, data: serde_json::Value| format!("event: {kind}\ndata: {data}\n\n");
    let created = json!({ "type": "response.created", "response": { "id": "r" } });
    let failed =
        json!({ "type": "response.failed", "response": { "id": "r", "error": { "code": code, "message": message } } });
    Reaction::raw("text/event-stream", event("response.created", created) + &event("response.failed", failed))
}

#[tokio::test]
async fn a_refused_key_or_account_or_model() {
    for (status, words) in [(401, "wrong key"), (403, "not for you"), (404, "no such model"), (400, "no such field")] {
        let Some((kind, remedy, _)) = failure_of(Reaction::status(status, words)).await else { return };
        let AgentErrorKind::Refused { reason } = kind else { panic!("{status}: {kind}") };
        assert!(reason.contains(words), "{status}: {reason}");
        assert_eq!(remedy, "give up");
    }
}

#[tokio::test]
async fn a_spent_quota() {
    let Some((kind, remedy, _)) = failure_of(failed("insufficient_quota", "pay first")).await else { return };
    assert!(matches!(kind, AgentErrorKind::Refused { .. }), "{kind}");
    assert_eq!(remedy, "give up");
}

#[tokio::test]
async fn too_many_requests_and_then_success() {
    let script = Script::new()
        .rule(Rule::any().times(1).reply(Reaction::status(429, "slow down").with_header("retry-after", "1")))
        .rule(Rule::any().reply(Reaction::text("now")));
    let Some(place) = Place::new(script) else { return };
    let (outcome, events) = run(&place.codex(), place.fresh("go")).await;
    assert_eq!(outcome.unwrap().text.as_deref(), Some("now"));
    let [AgentEvent::ProviderRetry { attempt: 1, reason }] =
        &events.into_iter().filter(|event| matches!(event, AgentEvent::ProviderRetry { .. })).collect::<Vec<_>>()[..]
    else {
        panic!("one repetition is reported")
    };
    assert!(reason.contains("429"), "{reason}");
}

/// Codex retries by itself if the provider says when.
#[tokio::test]
async fn too_many_requests_until_it_gives_up() {
    for (reaction, repetitions) in [
        (Reaction::status(429, "slow down").with_header("retry-after", "1"), 1),
        (Reaction::status(429, "slow down"), 0),
    ] {
        let Some((kind, remedy, events)) = failure_of(reaction).await else { return };
        assert_eq!((kind, remedy), (AgentErrorKind::RateLimited { retry_after: None }, "resume"));
        let repeated = events.iter().filter(|event| matches!(event, AgentEvent::ProviderRetry { .. })).count();
        assert_eq!(repeated, repetitions);
    }
}

#[tokio::test]
async fn a_rate_limit_that_says_for_how_long() {
    let words = "Rate limit reached for tokens. Please try again in 1.5s.";
    let Some((kind, remedy, _)) = failure_of(failed("rate_limit_exceeded", words)).await else { return };
    let retry_after = Some(Duration::from_millis(1_500));
    assert_eq!((kind, remedy), (AgentErrorKind::RateLimited { retry_after }, "resume"));
}

#[tokio::test]
async fn a_broken_or_overloaded_provider() {
    for reaction in [
        Reaction::status(500, "broken"),
        Reaction::status(503, "unavailable"),
        failed("server_is_overloaded", "too much"),
    ] {
        let Some((kind, remedy, _)) = failure_of(reaction).await else { return };
        assert_eq!((kind, remedy), (AgentErrorKind::Overloaded, "resume"));
    }
}

#[tokio::test]
async fn a_connection_that_breaks() {
    for reaction in [
        Reaction::text("half a sentence").dropped_after(3),
        Reaction::text("half a sentence").truncated_after(3),
        Reaction::hangup(),
    ] {
        let Some((kind, remedy, _)) = failure_of(reaction).await else { return };
        assert!(matches!(kind, AgentErrorKind::Connection { .. }), "{kind}");
        assert_eq!(remedy, "resume");
    }
}

/// Codex itself would retry for ever.
#[tokio::test]
async fn a_provider_that_is_not_there() {
    let Some(place) = Place::new(Script::new()) else { return };
    // A port on which no server listens any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let base_url = Some(format!("http://{gone}/v1"));
    let codex = Codex::new(CodexSettings { base_url, ..place.settings() });
    let (kind, remedy, _) = failure(&place, &codex).await;
    assert!(matches!(kind, AgentErrorKind::Connection { .. }), "{kind}");
    assert_eq!(remedy, "resume");
}

#[tokio::test]
async fn a_context_that_is_too_long() {
    let full = failed("context_length_exceeded", "Your input exceeds the context window of this model.");
    let Some((kind, remedy, _)) = failure_of(full).await else { return };
    assert_eq!((kind, remedy), (AgentErrorKind::PromptTooLong, "give up"));
}

/// Codex accepts at most a million characters.
#[tokio::test]
async fn a_prompt_that_is_too_long() {
    let Some(place) = Place::new(Script::new()) else { return };
    let error = run(&place.codex(), place.fresh(&"x".repeat(1_100_000))).await.0.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::PromptTooLong);
    assert!(place.server.requests().is_empty());
}

/// Codex ignores what it cannot parse, so an answer without valid events counts as one that breaks off.
#[tokio::test]
async fn an_answer_that_is_no_json() {
    let garbled = Reaction::raw("text/event-stream", "event: response.completed\ndata: {nonsense\n\n");
    let Some((kind, remedy, _)) = failure_of(garbled).await else { return };
    assert!(matches!(kind, AgentErrorKind::Connection { .. }), "{kind}");
    assert_eq!(remedy, "resume");
}

#[tokio::test]
async fn a_stream_that_stalls_is_stopped_and_reminded() {
    let script = Script::new()
        .rule(Rule::any().prompt(Nudges::PROMPT).reply(Reaction::text("Sorry.")))
        .rule(Rule::any().reply(Reaction::text("Let me think").stalled_after(3)));
    let Some(place) = Place::new(script) else { return };
    let limit = BUSY_START;
    let codex = Codex::new(CodexSettings { idle_limit: Some(limit), ..place.settings() });

    let start = Instant::now();
    let (kind, remedy, _) = failure(&place, &codex).await;
    assert_eq!((kind, remedy), (AgentErrorKind::Idle { limit, nudges: 0 }, "resume"));
    assert!(start.elapsed() < 6 * limit, "{:?}", start.elapsed());

    let events = Events::default();
    let nudges = Nudges::DEFAULT.with_idle(Some(BUSY_START));
    let codex = place.codex();
    let conversation = Conversation::new(&codex).with_nudges(nudges);
    let completion = conversation.run(place.fresh("go"), &events.sink()).await.unwrap();
    assert_eq!((completion.text.as_deref(), completion.nudges), (Some("Sorry."), 1));
}

#[tokio::test]
async fn a_call_that_takes_too_long() {
    let script = Script::new().rule(Rule::any().reply(Reaction::text("late").after(Duration::from_secs(60))));
    let Some(place) = Place::new(script) else { return };
    let limit = BUSY_START;
    let codex = Codex::new(CodexSettings { time_limit: Some(limit), ..place.settings() });
    let (kind, remedy, _) = failure(&place, &codex).await;
    assert_eq!((kind, remedy), (AgentErrorKind::TimedOut { limit }, "resume"));
}
