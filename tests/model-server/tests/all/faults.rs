//! Every fault that an answer can have.

use std::time::{Duration, Instant};

use interlocking_model_server::{ModelServer, Reaction, Rule, Script};
use serde_json::{Value, json};

use crate::wire::{Answer, post};

const SOON: Duration = Duration::from_secs(20);

async fn ask(server: &ModelServer, prompt: &str, streams: bool, patience: Duration) -> Answer {
    let messages = [json!({ "role": "user", "content": prompt })];
    let body = json!({ "model": "m", "stream": streams, "messages": messages });
    post(server.address(), "/v1/messages", &body.to_string(), patience).await
}

fn always(reaction: Reaction) -> ModelServer {
    ModelServer::start(Script::new().rule(Rule::any().reply(reaction))).unwrap()
}

fn hello() -> Reaction {
    Reaction::text("hello")
}

#[tokio::test]
async fn a_stream_stalls_but_stays_open() {
    let answer = ask(&always(hello().stalled_after(3)), "x", true, Duration::from_millis(300)).await;
    assert!(answer.open && !answer.whole);
    assert_eq!(answer.events().len(), 3);
    let answer = ask(&always(hello().stalled_after(3)), "x", false, Duration::from_millis(300)).await;
    assert!(answer.open && answer.body.is_empty(), "{}", answer.body);
}

#[tokio::test]
async fn a_stream_ends_too_early_in_good_order() {
    let answer = ask(&always(hello().truncated_after(2)), "x", true, SOON).await;
    assert!(answer.whole && !answer.open);
    assert_eq!(answer.events().len(), 2);
    let answer = ask(&always(hello().truncated_after(0)), "x", false, SOON).await;
    assert!(answer.whole && serde_json::from_str::<Value>(&answer.body).is_err(), "{}", answer.body);
}

#[tokio::test]
async fn a_connection_breaks() {
    let answer = ask(&always(hello().dropped_after(2)), "x", true, SOON).await;
    assert!(!answer.whole && !answer.open);
    assert_eq!(answer.events().len(), 2);
    let answer = ask(&always(Reaction::hangup()), "x", true, SOON).await;
    assert_eq!((answer.status, answer.open), (None, false));
}

#[tokio::test]
async fn an_event_is_no_json() {
    let answer = ask(&always(hello().garbled_at(2)), "x", true, SOON).await;
    let events = answer.events();
    assert!(events[2].is_string() && events[1].is_object() && events[3].is_object(), "{events:?}");
    let answer = ask(&always(hello().garbled_at(0)), "x", false, SOON).await;
    assert!(answer.whole && serde_json::from_str::<Value>(&answer.body).is_err(), "{}", answer.body);
    let answer = ask(&always(Reaction::raw("text/html", "<h1>Sign in</h1>")), "x", true, SOON).await;
    assert_eq!((answer.status, &*answer.body), (Some(200), "<h1>Sign in</h1>"));
    assert!(answer.head.contains("text/html"));
}

#[tokio::test]
async fn an_answer_takes_its_time() {
    let begun = Instant::now();
    let answer = ask(&always(hello().after(Duration::from_millis(150))), "x", true, SOON).await;
    assert!(answer.whole && begun.elapsed() >= Duration::from_millis(150));
    let begun = Instant::now();
    let answer = ask(&always(hello().paced(Duration::from_millis(20))), "x", true, SOON).await;
    let pauses = u32::try_from(answer.events().len() - 1).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(20) * pauses && pauses >= 5);
}

#[tokio::test]
async fn an_answer_is_huge() {
    const BYTES: usize = 20_000_000;
    let answer = ask(&always(Reaction::text("x".repeat(BYTES))), "x", true, SOON).await;
    assert!(answer.whole && answer.body.len() > BYTES);
    let deltas = answer.events();
    let text: usize = deltas.iter().filter_map(|event| event.pointer("/delta/text")?.as_str()).map(str::len).sum();
    assert_eq!(text, BYTES);
}
