//! Plain answers.

use interlocking_agents::{Agent, AgentEvent, Turn, Usage};
use interlocking_model_server::{Block, Dialect, Reaction, Rule, Script, Usage as Tokens};

use crate::place::{KEY, MODEL, Place, run};

#[tokio::test]
async fn a_plain_answer_and_what_it_used() {
    let blocks = [Block::Thinking("Hm.".into()), Block::Text("Blue.".into())];
    let answer = Reaction::blocks(blocks).with_usage(Tokens { input: 7, cached: 5, cache_written: 0, output: 11 });
    let Some(place) = Place::new(Script::new().rule(Rule::asked("Which colour?").reply(answer))) else { return };
    let agent = place.gemini();
    agent.ready().await.unwrap();
    let system = Some("Answer in one word.".to_owned());
    let (outcome, events) = run(&agent, Turn { system, ..place.fresh("Which colour?") }).await;

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
    assert_eq!((request.dialect, request.model()), (Dialect::Gemini, MODEL));
    assert_eq!(request.prompt(), "Which colour?");
    assert_eq!(request.header("x-goog-api-key"), Some(KEY));
    let told = request.system().contains("Answer in one word.")
        || request.texts().any(|text| text.contains("Answer in one word."));
    assert!(told, "{:#}", request.body);
    assert_eq!(place.server.notes(), Vec::<String>::new());
}

/// A slash, and an `@`. (The last output of a longer prompt may get lost, see the driver's documentation.)
#[tokio::test]
async fn a_prompt_is_no_command_to_the_program() {
    let Some(place) = Place::new(Script::computed(|_| Reaction::text("Yes."))) else { return };
    let long = format!("/help is what I want, me@example.org{}", " and long".repeat(4_000));
    let (outcome, _) = run(&place.gemini(), place.fresh(&long)).await;
    assert_eq!(outcome.unwrap().text.as_deref(), Some("Yes."));
    let prompt = place.server.requests()[0].prompt();
    assert_eq!(prompt.trim_end(), format!("# Your task\n\n{long}"), "{} bytes of {}", prompt.len(), long.len());
}

#[tokio::test]
async fn the_turns_model_comes_before_the_settings() {
    let Some(place) = Place::new(Script::computed(|_| Reaction::text("Yes."))) else { return };
    let model = Some("gemini-2.5-pro".to_owned());
    run(&place.gemini(), Turn { model, ..place.fresh("Hello") }).await.0.unwrap();
    assert_eq!(place.server.requests()[0].model(), "gemini-2.5-pro");
}
