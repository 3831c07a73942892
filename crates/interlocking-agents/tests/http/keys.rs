//! Searches for a key in everything that a call leaves behind.

use std::fmt::Write;

use interlocking_agents::{Conversation, HttpModel, HttpProvider, HttpSettings, Turn};
use interlocking_model_server::{ModelServer, Reaction, Rule, Script};

use crate::common::{KEY, PROVIDERS, Recorded, always, article, fresh, go_on, key, model, run, settings};
use listening::Everything;

#[path = "../listening/mod.rs"]
mod listening;

/// Neither the key, nor the prompt, nor the answer is logged by this crate or by the HTTP crate, whose own log contains
/// whole answers. The key is also in no event, error or session file, nor in the agent's debug output.
#[tokio::test]
async fn a_key_is_nowhere_but_in_the_request() {
    let everything = Everything::default();
    // With only one dispatcher, a thread without it (another test) would disable logging for all threads.
    let _second = tracing::Dispatch::new(Everything::default());
    let _guard = tracing::subscriber::set_default(everything.clone());
    let directory = tempfile::tempdir().unwrap();
    let mut left = String::new();
    for provider in PROVIDERS {
        let script = Script::new()
            .rule(Rule::asked("classified prompt").reply(Reaction::text("classified answer")))
            .rule(Rule::asked("refuse").reply(Reaction::status(401, format!("Incorrect API key provided: {KEY}."))))
            .rule(Rule::asked("break").reply(Reaction::text("classified answer").garbled_at(1)))
            .rule(Rule::asked("end").reply(Reaction::raw("text/event-stream", "data: {\"classified\": 1\n\n")))
            .rule(Rule::asked("hang up").reply(Reaction::hangup()));
        let server = ModelServer::start(script).unwrap();
        let sessions = Some(directory.path().to_owned());
        let model = HttpModel::new(HttpSettings { sessions, ..settings(&server, provider) }).with_key(key());
        let recorded = Recorded::default();
        for prompt in ["classified prompt", "refuse", "break", "end", "hang up"] {
            let turn = Turn { system: Some("classified rules".to_owned()), schema: article(), ..fresh(prompt) };
            let outcome = Conversation::new(&model).with_corrections(0).run(turn, &recorded.sink()).await;
            let error = outcome.unwrap_err();
            if prompt == "refuse" {
                assert_eq!(
                    error.to_string(),
                    "the provider refuses the request: 401: Incorrect API key provided: [redacted]."
                );
            }
            write!(left, "{error} {error:?} {}", serde_json::to_string(&error).unwrap()).unwrap();
        }
        write!(left, "{model:?} {:?}", recorded.events()).unwrap();
        assert!(server.requests().iter().all(|request| request.headers.iter().any(|(_, value)| value.contains(KEY))));
    }
    let mut unread = vec![directory.path().to_owned()];
    while let Some(path) = unread.pop() {
        if path.is_dir() {
            unread.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            left += &std::fs::read_to_string(path).unwrap();
        }
    }
    assert!(left.contains("classified prompt"), "the sessions are among what was searched");
    let logged = everything.0.lock().unwrap().clone();
    assert!(!left.contains(KEY), "{left}");
    for shown in ["agent=\"anthropic\"", "operation=\"fresh\"", "model=\"model-x\"", "exchanges=1"] {
        assert!(logged.contains(shown), "{shown} in\n{logged}");
    }
    for hidden in [KEY, "classified"] {
        assert!(!logged.contains(hidden), "{hidden} in\n{logged}");
    }
}

#[tokio::test]
async fn a_key_where_an_error_is_cut_leaves_nothing_of_itself() {
    for before in (100..300).step_by(10) {
        let words = format!("{}{KEY}{}", "x".repeat(before), "y".repeat(300));
        let long = format!("{words}{}", "z".repeat(1 << 20));
        for words in [words, long] {
            let server = always(Reaction::status(401, words));
            for provider in PROVIDERS {
                let error = run(&model(&server, provider), fresh("?")).await.unwrap_err().to_string();
                assert!(error.contains("xxx") && !error.contains("sk-"), "{provider}, {before}: {error}");
            }
        }
    }
}

/// The variable is read when a call is made. Cargo sets this variable for every test.
#[tokio::test]
async fn the_key_comes_from_the_environment() {
    let server = always(Reaction::text("yes"));
    let api_key_variable = Some("CARGO_PKG_NAME".to_owned());
    let model = HttpModel::new(HttpSettings { api_key_variable, ..settings(&server, HttpProvider::Anthropic) });
    run(&model, fresh("?")).await.unwrap();
    assert_eq!(server.requests()[0].header("x-api-key"), Some("interlocking-agents"));
}

#[tokio::test]
async fn a_server_that_wants_no_key_gets_none() {
    let server = always(Reaction::text("yes"));
    let settings = HttpSettings { api_key_variable: Some(String::new()), ..settings(&server, HttpProvider::OpenAi) };
    let model = HttpModel::new(settings);
    let session = run(&model, fresh("?")).await.unwrap().session;
    run(&model, go_on(&session, "?")).await.unwrap();
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer none"));
    let server = always(Reaction::status(404, "there is none"));
    let settings =
        HttpSettings { api_key_variable: Some(String::new()), ..self::settings(&server, HttpProvider::OpenAi) };
    let error = run(&HttpModel::new(settings), fresh("?")).await.unwrap_err();
    assert_eq!(error.to_string(), "the provider refuses the request: 404: there is none");
}

/// A redirect would receive the key.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = always(Reaction::text("yes"));
    for provider in PROVIDERS {
        let server =
            always(Reaction::status(307, "").with_header("location", format!("{}/v1/messages", elsewhere.url())));
        let model = HttpModel::new(settings(&server, provider)).with_key(key());
        let error = run(&model, fresh("?")).await.unwrap_err();
        assert!(error.to_string().contains("redirect (307)"), "{provider}: {error}");
    }
    assert!(elsewhere.requests().is_empty() && elsewhere.notes().is_empty());
}
