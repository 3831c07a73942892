//! The provider's failures.

use interlocking_agents::{AgentErrorKind, Disposition, GeminiSettings};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::place::{Place, run, with_key};

async fn failure(reaction: Reaction) -> Option<(AgentErrorKind, Disposition)> {
    let place = Place::new(Script::new().rule(Rule::any().reply(reaction)))?;
    let (outcome, _) = run(&place.gemini(), place.fresh("Hello")).await;
    let error = outcome.unwrap_err();
    assert!(error.session.is_some() && error.usage.calls == 1, "{error:?}");
    Some((*error.kind.clone(), error.disposition()))
}

#[tokio::test]
async fn a_refusal_is_final() {
    // For the last status the program's output contains no code.
    for status in [401, 404] {
        let Some((kind, disposition)) = failure(Reaction::status(status, "not you")).await else { return };
        assert_eq!(kind, AgentErrorKind::Refused { reason: "not you".to_owned() }, "{status}");
        assert_eq!(disposition, Disposition::GiveUp);
    }
}

#[tokio::test]
async fn what_passes_is_to_be_tried_again_in_the_session() {
    let cases = [
        (Reaction::status(429, "slow down"), AgentErrorKind::RateLimited { retry_after: None }),
        (Reaction::status(503, "oh"), AgentErrorKind::Overloaded),
    ];
    for (reaction, expected) in cases {
        let Some((kind, disposition)) = failure(reaction).await else { return };
        assert_eq!(kind, expected);
        assert!(matches!(disposition, Disposition::ResumeSession { .. }), "{disposition:?}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_no_refusal() {
    let half = || Reaction::text("half of it");
    for reaction in [half().dropped_after(1), half().garbled_at(1), Reaction::hangup()] {
        let Some((kind, disposition)) = failure(reaction).await else { return };
        assert!(matches!(kind, AgentErrorKind::Connection { .. }), "{kind:?}");
        assert!(matches!(disposition, Disposition::ResumeSession { .. }), "{disposition:?}");
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_said_to_be() {
    let said = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).";
    let Some((kind, _)) = failure(Reaction::status(400, said)).await else { return };
    assert_eq!(kind, AgentErrorKind::PromptTooLong);
}

/// The program exits with 0.
#[tokio::test]
async fn a_stream_that_ends_too_early_is_no_answer() {
    let Some((kind, _)) = failure(Reaction::text("half of it").truncated_after(1)).await else { return };
    assert_eq!(kind, AgentErrorKind::Overloaded);
}

#[tokio::test]
async fn a_limit_of_requests_passes() {
    let script = Script::new()
        .rule(Rule::any().times(1).reply(Reaction::status(429, "slow down")))
        .rule(Rule::asked("Which colour?").reply(Reaction::text("Blue.")));
    let Some(place) = Place::new(script) else { return };
    let agent = with_key(GeminiSettings { retries: 1, ..place.settings() });
    let completion = run(&agent, place.fresh("Which colour?")).await.0.unwrap();
    assert_eq!((completion.text.as_deref(), place.server.requests().len()), (Some("Blue."), 2));
}

#[tokio::test]
async fn steps_are_limited() {
    let looking = Rule::any().reply_with(|request| {
        Reaction::tool("read_file", json!({ "file_path": format!("nothing-{}", request.number) }))
    });
    let Some(place) = Place::new(Script::new().rule(looking)) else { return };
    let agent = with_key(GeminiSettings { max_steps: Some(3), ..place.settings() });
    let error = run(&agent, place.fresh("Look")).await.0.unwrap_err();
    assert_eq!((&*error.kind, place.server.requests().len()), (&AgentErrorKind::StepLimit, 3));
    assert_eq!(error.usage.input_tokens, 300);
    assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));
}
