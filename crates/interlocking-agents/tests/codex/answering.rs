//! Plain answers.

use interlocking_agents::program::Secret;
use interlocking_agents::{Agent, AgentEvent, Codex, CodexSettings, Turn, Usage};
use interlocking_model_server::{Dialect, Reaction, Rule, Script, Usage as Tokens};

use crate::place::{MODEL, Place, run};

#[tokio::test]
async fn a_plain_answer_and_what_it_used() {
    let answer = Reaction::text("Blue.").with_usage(Tokens { input: 7, cached: 5, cache_written: 0, output: 11 });
    let Some(place) = Place::new(Script::new().rule(Rule::asked("Which colour?").reply(answer))) else { return };
    let codex = place.codex();
    codex.ready().await.unwrap();
    let system = Some("Answer in one word.".to_owned());
    let (outcome, events) = run(&codex, Turn { system, ..place.fresh("Which colour?") }).await;

    let completion = outcome.unwrap();
    assert_eq!(completion.text.as_deref(), Some("Blue."));
    // Cached tokens are part of the input.
    let used = Usage { calls: 1, input_tokens: 12, output_tokens: 11, unpriced_calls: 1, ..Usage::default() };
    assert_eq!(completion.usage, used);
    assert_eq!(
        events,
        [
            AgentEvent::Started { session: completion.session.clone() },
            AgentEvent::Text { text: "Blue.".to_owned() },
            AgentEvent::Finished { session: Some(completion.session), usage: used },
        ]
    );
    let [request] = &place.server.requests()[..] else { panic!("{:#?}", place.server.requests()) };
    assert_eq!((request.dialect, request.model()), (Dialect::Responses, MODEL));
    assert_eq!(request.prompt(), "Which colour?");
    assert!(request.system().contains("Answer in one word."), "{}", request.system());
}

/// Without a `base_url` Codex uses its built-in OpenAI provider; the key is passed on nevertheless.
#[tokio::test]
async fn a_key_for_the_provider_that_codex_knows() {
    let Some(place) = Place::new(Script::new().rule(Rule::any().reply(Reaction::text("here")))) else { return };
    let config = toml::from_str(&format!("openai_base_url = \"{}/v1\"", place.server.url())).unwrap();
    let settings = CodexSettings { base_url: None, retries: None, config, ..place.settings() };
    let codex = Codex::new(settings).with_key(Secret::new("key-of-the-test"));
    let completion = run(&codex, place.fresh("Where?")).await.0.unwrap();
    assert_eq!(completion.text.as_deref(), Some("here"));
    let requests = place.server.requests();
    assert_eq!(requests.last().unwrap().header("authorization"), Some("Bearer key-of-the-test"));
}

/// The tokens of an agent that Codex starts itself would not be counted. The default model has a tool for it that other
/// models do not have.
#[tokio::test]
async fn no_agents_of_its_own_are_offered() {
    let Some(place) = Place::new(Script::new().rule(Rule::any().reply(Reaction::text("here")))) else { return };
    for model in [None, Some(MODEL.to_owned())] {
        let codex = Codex::new(CodexSettings { model, ..place.settings() });
        run(&codex, place.fresh("Which tools?")).await.0.unwrap();
        let sent = place.server.requests().pop().unwrap().body.to_string();
        assert!(sent.contains("\"exec") && !sent.contains("spawn_agent"), "{sent}");
    }
}
