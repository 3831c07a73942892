//! Which rule answers, and what the server records.

use std::time::Duration;

use interlocking_model_server::{ModelServer, Reaction, Rule, Script};
use serde_json::{Value, json};

use crate::wire::post;

async fn ask(server: &ModelServer, body: Value) -> (Option<u16>, String) {
    let answer = post(server.address(), "/v1/messages", &body.to_string(), Duration::from_secs(20)).await;
    (answer.status, answer.body)
}

fn saying(prompt: &str) -> Value {
    json!({ "model": "claude-haiku", "system": "You sort.", "messages": [{ "role": "user", "content": prompt }] })
}

#[tokio::test]
async fn the_first_rule_that_fits_and_is_not_used_up_answers() {
    let script = Script::new()
        .rule(Rule::asked("red").model("opus").reply(Reaction::text("by the model")))
        .rule(Rule::asked("red").system("You guess").reply(Reaction::text("by the system prompt")))
        .rule(Rule::asked("red").offers("Paint").reply(Reaction::text("by the tool")))
        .rule(Rule::asked("red").times(2).reply(Reaction::text("twice")))
        .rule(Rule::any().prompt("red").history("Hi").reply(Reaction::text("after a greeting")))
        .rule(Rule::any().prompt("red").reply_with(|request| Reaction::text(format!("again: {}", request.prompt()))));
    let server = ModelServer::start(script).unwrap();
    for (body, expected, rule) in [
        (saying("red"), "twice", 3),
        (saying("red"), "twice", 3),
        (saying("red!"), "again: red!", 5),
        (
            json!({ "messages": [{ "role": "user", "content": "Hi" }, { "role": "user", "content": "red" }] }),
            "greeting",
            4,
        ),
        (json!({ "model": "opus-5", "messages": [{ "role": "user", "content": "red" }] }), "by the model", 0),
        (json!({ "system": "You guess.", "messages": [{ "role": "user", "content": "red" }] }), "system prompt", 1),
        (
            json!({ "tools": [{ "name": "Paint" }], "messages": [{ "role": "user", "content": "red" }] }),
            "by the tool",
            2,
        ),
    ] {
        let (status, text) = ask(&server, body).await;
        assert!(status == Some(200) && text.contains(expected), "{expected}: {text}");
        assert_eq!(server.recorded().last().unwrap().rule, Some(rule));
    }
    server.assert_all_matched();
}

#[tokio::test]
async fn a_result_from_before_the_prompt_does_not_count() {
    let script = Script::new()
        .rule(Rule::asked("Go on").reply(Reaction::text("fresh")))
        .rule(Rule::told("3").reply(Reaction::text("told")));
    let server = ModelServer::start(script).unwrap();
    let call =
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "add", "input": {} }] });
    let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": "3" });
    let text = json!({ "type": "text", "text": "Go on." });
    let first = json!({ "role": "user", "content": "Add." });
    let told = json!({ "messages": [first, call, { "role": "user", "content": [result] }] });
    assert!(ask(&server, told).await.1.contains("told"));
    let both = json!({ "messages": [first, call, { "role": "user", "content": [result, text] }] });
    assert!(ask(&server, both).await.1.contains("fresh"));
}

#[tokio::test]
async fn what_no_rule_fits_is_refused_and_kept() {
    let script = Script::new().rule(Rule::asked("red").times(1).reply(Reaction::text("once")));
    let server = ModelServer::start(script).unwrap();
    ask(&server, saying("red")).await;
    let (status, text) = ask(&server, saying("blue")).await;
    assert_eq!(status, Some(400));
    assert!(text.contains("no rule of the model server's script fits") && text.contains("blue"), "{text}");
    assert_eq!(server.unmatched().iter().map(|request| request.prompt()).collect::<Vec<_>>(), ["blue"]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.assert_all_matched())).unwrap_err();
    let shown = panic.downcast_ref::<String>().unwrap();
    assert!(shown.contains("blue") && shown.contains("\"red\"") && shown.contains("0 times left"), "{shown}");
}

#[tokio::test]
async fn a_test_can_wait_for_a_request() {
    let server = ModelServer::start(Script::computed(|_| Reaction::text("hello"))).unwrap();
    let asking = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        ask(&server, saying("early")).await;
        ask(&server, saying("late")).await;
    };
    let ((), request) = tokio::join!(asking, server.received(|request| request.prompt() == "late"));
    assert_eq!(request.number, 1);
}

#[tokio::test]
async fn what_else_is_asked_for_is_noted() {
    let server = ModelServer::start(Script::new()).unwrap();
    let wait = Duration::from_secs(20);
    assert_eq!(post(server.address(), "/v1/messages/count_tokens", "{}", wait).await.json()["input_tokens"], 100);
    assert_eq!(post(server.address(), "/v1/embeddings", "{}", wait).await.status, Some(404));
    assert_eq!(post(server.address(), "/v1/messages", "{", wait).await.status, Some(400));
    let notes = server.notes();
    assert!(notes[0] == "POST /v1/embeddings" && notes[1].contains("no JSON") && notes.len() == 2, "{notes:?}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_server_that_is_dropped_listens_no_more() {
    let server = ModelServer::start(Script::new()).unwrap();
    let address = server.address();
    assert!(std::net::TcpStream::connect(address).is_ok());
    drop(server);
    assert!(std::net::TcpStream::connect(address).is_err());
}
