//! The table of failures, line by line.

use std::time::Duration;

use interlocking_agents::faults::FaultyProgram;
use interlocking_agents::{
    AgentError, AgentErrorKind, AgentEvent, ClaudeSettings, Conversation, Disposition, Nudges, SessionOp, Turn,
};
use interlocking_model_server::{Reaction, Rule, Script};
use serde_json::json;

use crate::common::{Bench, Recorded, article, run};

async fn failing_with(reaction: Reaction) -> Option<AgentError> {
    let bench = Bench::new(Script::new().rule(Rule::any().reply(reaction)))?;
    let agent = bench.agent_with(ClaudeSettings { retries: 0, ..bench.settings() });
    Some(run(&agent, bench.fresh("Write.")).await.unwrap_err())
}

#[tokio::test]
async fn what_the_provider_refuses_is_given_up() {
    for (status, words) in [
        (400, "bad thing"),
        (401, "invalid x-api-key"),
        (403, "not for you"),
        (404, "no such model"),
        (400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing"),
    ] {
        let Some(error) = failing_with(Reaction::status(status, words)).await else { return };
        assert!(matches!(&*error.kind, AgentErrorKind::Refused { .. }), "{status}: {error:?}");
        assert_eq!(error.disposition(), Disposition::GiveUp);
        assert_eq!((error.usage.calls, error.usage.unpriced_calls), (1, 0));
    }
}

#[tokio::test]
async fn what_the_provider_cannot_do_now_is_resumed_later() {
    for (status, kind) in [
        (429, AgentErrorKind::RateLimited { retry_after: None }),
        (500, AgentErrorKind::Overloaded),
        (503, AgentErrorKind::Overloaded),
        (529, AgentErrorKind::Overloaded),
    ] {
        let Some(error) = failing_with(Reaction::status(status, "later")).await else { return };
        assert_eq!(*error.kind, kind, "{status}");
        assert!(error.kind.is_provider_failure());
        assert!(matches!(error.disposition(), Disposition::ResumeSession { after: None, .. }), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_or_hangs_up_is_tried_again() {
    let Some(bench) = Bench::new(Script::new().rule(Rule::any().reply(Reaction::hangup()))) else { return };
    let settings = ClaudeSettings { retries: 0, ..bench.settings() };
    let nobody = Some("http://127.0.0.1:9".to_owned());
    for settings in [settings.clone(), ClaudeSettings { base_url: nobody, ..settings }] {
        let error = run(&bench.agent_with(settings), bench.fresh("Write.")).await.unwrap_err();
        assert!(matches!(&*error.kind, AgentErrorKind::Connection { .. }), "{error:?}");
        assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));
    }
}

#[tokio::test]
async fn how_long_the_provider_says_to_wait_is_passed_on() {
    let reaction = Reaction::status(429, "slow down").with_header("retry-after", "4");
    let Some(bench) = Bench::new(Script::new().rule(Rule::any().reply(reaction))) else { return };
    let recorded = Recorded::default();
    let agent = bench.agent();
    let error = Conversation::new(&agent).run(bench.fresh("Write."), &recorded.sink()).await.unwrap_err();
    let AgentErrorKind::RateLimited { retry_after: Some(wait) } = *error.kind else { panic!("{error:?}") };
    assert!((3..=6).contains(&wait.as_secs()), "{wait:?}");
    let retry = AgentEvent::ProviderRetry { attempt: 1, reason: "rate_limit (status 429)".to_owned() };
    assert!(recorded.events().contains(&retry), "{:?}", recorded.events());
}

#[tokio::test]
async fn a_429_and_then_success() {
    let script = Script::new()
        .rule(Rule::any().times(1).reply(Reaction::status(429, "slow down")))
        .rule(Rule::any().reply(Reaction::text("Done.")));
    let Some(bench) = Bench::new(script) else { return };
    let recorded = Recorded::default();
    let agent = bench.agent();
    let completion = Conversation::new(&agent).run(bench.fresh("Write."), &recorded.sink()).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("Done."));
    assert!(recorded.events().iter().any(|event| matches!(event, AgentEvent::ProviderRetry { attempt: 1, .. })));
}

/// The disposition works: the session exists, and can be continued.
#[tokio::test]
async fn a_turn_that_failed_is_resumed_in_its_session() {
    let script = Script::new()
        .rule(Rule::any().times(2).reply(Reaction::status(500, "broken")))
        .rule(Rule::any().reply(Reaction::text("Done.")));
    let Some(bench) = Bench::new(script) else { return };
    let agent = bench.agent();
    let error = run(&agent, bench.fresh("Write.")).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Overloaded);
    let Disposition::ResumeSession { session, .. } = error.disposition() else { panic!("{error:?}") };
    let completion = run(&agent, bench.turn(SessionOp::ContinueFrom(session), "Write.")).await.unwrap();
    assert_eq!(completion.text.as_deref(), Some("Done."));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_given_up() {
    let too_long = Reaction::status(400, "prompt is too long: 250000 tokens > 200000 maximum");
    for reaction in [too_long, Reaction::status(413, "Request exceeds the maximum size")] {
        let Some(error) = failing_with(reaction).await else { return };
        assert_eq!(*error.kind, AgentErrorKind::PromptTooLong);
        assert_eq!(error.disposition(), Disposition::GiveUp);
    }
    // Longer than the program sends at all, and than it accepts in any other way.
    let Some(bench) = Bench::new(Script::new()) else { return };
    let error = run(&bench.agent(), bench.fresh(&"words ".repeat(2_000_000))).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::PromptTooLong);
    assert!(bench.server.requests().is_empty());
}

#[tokio::test]
async fn limits_of_steps_and_money_are_kept_and_told_apart() {
    let looking = Reaction::tool("Glob", json!({ "pattern": "*" }));
    let Some(bench) = Bench::new(Script::new().rule(Rule::any().reply(looking))) else { return };
    let steps = ClaudeSettings { max_steps: Some(2), ..bench.settings() };
    let error = run(&bench.agent_with(steps), bench.fresh("Look.")).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::StepLimit);
    assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }));
    assert!(error.usage.cost.micro_dollars() > 0, "what was done is paid for");
    assert_eq!(bench.server.requests().len(), 2);
    let money = ClaudeSettings { max_dollars: Some(0.000_001), ..bench.settings() };
    let error = run(&bench.agent_with(money), bench.fresh("Look.")).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::BudgetLimit);
    assert_eq!(error.disposition(), Disposition::GiveUp);
    assert!(error.session.is_some(), "who raises the budget can go on");
}

#[tokio::test]
async fn what_the_program_does_not_accept_is_a_matter_of_set_up() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    let settings = ClaudeSettings { max_dollars: Some(-1.0), ..bench.settings() };
    let error = run(&bench.agent_with(settings), bench.fresh("Write.")).await.unwrap_err();
    let AgentErrorKind::Configuration { reason } = &*error.kind else { panic!("{error:?}") };
    assert!(reason.contains("--max-budget-usd"), "{reason}");
    assert_eq!((error.disposition(), &error.session), (Disposition::GiveUp, &None));
    assert_eq!(error.usage.calls, 0);
}

#[tokio::test]
async fn who_is_not_logged_in_is_told_so() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    let credential = Some(interlocking_agents::claude::Credential::Login);
    let agent = interlocking_agents::ClaudeCode::new(ClaudeSettings { credential, ..bench.settings() });
    let error = run(&agent, bench.fresh("Write.")).await.unwrap_err();
    let AgentErrorKind::Configuration { reason } = &*error.kind else { panic!("{error:?}") };
    assert!(reason.contains("Not logged in"), "{reason}");
}

#[tokio::test]
async fn an_invalid_output_is_corrected_in_the_session() {
    let script = Script::new()
        .rule(
            Rule::any()
                .prompt(Conversation::CORRECTION_PROMPT)
                .reply(Reaction::output(json!({ "title": "Borrowing", "words": 5 }))),
        )
        .rule(Rule::any().reply(Reaction::output(json!({ "title": "Borrowing", "words": "five" }))));
    let Some(bench) = Bench::new(script) else { return };
    let turn = Turn { schema: Some(article()), ..bench.fresh("Write.") };
    let completion = run(&bench.agent(), turn).await.unwrap();
    assert_eq!(completion.output, json!({ "title": "Borrowing", "words": 5 }));
    assert_eq!((completion.corrections, completion.usage.calls, completion.usage.unpriced_calls), (1, 2, 0));
    let correction = bench.server.requests().last().unwrap().prompt();
    assert!(correction.contains("/words"), "{correction}");
}

/// The program reports success.
#[tokio::test]
async fn an_answer_in_words_alone_is_reminded_of_the_output() {
    let script = Script::new()
        .rule(Rule::any().prompt(Nudges::PROMPT).reply(Reaction::output(json!({ "title": "Borrowing", "words": 5 }))))
        .rule(Rule::any().reply(Reaction::text("I have written it.")));
    let Some(bench) = Bench::new(script) else { return };
    let agent = bench.agent();
    let conversation = Conversation::new(&agent).with_nudges(Nudges::DEFAULT);
    let turn = || Turn { schema: Some(article()), ..bench.fresh("Write.") };
    let completion = conversation.run(turn(), &|_event: AgentEvent| {}).await.unwrap();
    assert_eq!((completion.output["words"].as_u64(), completion.nudges), (Some(5), 1));
    let error = Conversation::new(&agent).with_corrections(0).run(turn(), &|_event: AgentEvent| {}).await.unwrap_err();
    assert!(matches!(&*error.kind, AgentErrorKind::OutputInvalid { output: None, .. }), "{error:?}");
}

/// How long the tests wait for a silent program: longer than its start takes on a busy machine.
const SILENCE: Duration = Duration::from_secs(8);

fn stalling() -> Script {
    Script::new()
        .rule(Rule::any().prompt(Nudges::PROMPT).reply(Reaction::text("Here I am.")))
        .rule(Rule::any().reply(Reaction::text("Half an ans").stalled_after(3)))
}

#[tokio::test]
async fn a_stream_that_stalls_is_broken_off_and_reminded_in_its_session() {
    let Some(bench) = Bench::new(stalling()) else { return };
    let agent = bench.agent();
    let nudges = Nudges { idle: Some(SILENCE), limit: 1, ..Nudges::DEFAULT };
    let conversation = Conversation::new(&agent).with_nudges(nudges);
    let completion = conversation.run(bench.fresh("Write."), &|_event: AgentEvent| {}).await.unwrap();
    assert_eq!((completion.text.as_deref(), completion.nudges), (Some("Here I am."), 1));
    assert_eq!((completion.usage.calls, completion.usage.unpriced_calls), (2, 0), "it was asked what it had cost");
}

#[tokio::test]
async fn a_stream_that_stalls_ends_the_turn_by_the_agents_own_limits() {
    let Some(bench) = Bench::new(stalling()) else { return };
    let silence = Some(SILENCE);
    let idle = bench.agent_with(ClaudeSettings { idle_limit: silence, ..bench.settings() });
    let whole = bench.agent_with(ClaudeSettings { time_limit: silence, ..bench.settings() });
    let (idle, whole) = tokio::join!(run(&idle, bench.fresh("Write.")), run(&whole, bench.fresh("Write.")));
    let (idle, whole) = (idle.unwrap_err(), whole.unwrap_err());
    assert_eq!(*idle.kind, AgentErrorKind::Idle { limit: SILENCE, nudges: 0 });
    assert_eq!(*whole.kind, AgentErrorKind::TimedOut { limit: SILENCE });
    for error in [idle, whole] {
        assert!(matches!(error.disposition(), Disposition::ResumeSession { .. }), "{error:?}");
        assert_eq!(error.usage.unpriced_calls, 0);
    }
}

/// A program without any output is not waited for.
#[tokio::test]
async fn a_program_that_does_not_begin_is_ended() {
    let Some(bench) = Bench::new(Script::new()) else { return };
    let silent = FaultyProgram::new().silence(Duration::from_secs(600));
    let silent = silent.write_to(bench.directory().join("silent")).unwrap();
    let settings =
        ClaudeSettings { program: silent, first_event_limit: Some(Duration::from_secs(1)), ..bench.settings() };
    let error = run(&bench.agent_with(settings), bench.fresh("Write.")).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::NoFirstEvent { limit: Duration::from_secs(1) });
    assert!(matches!(error.disposition(), Disposition::Retry { .. }), "there is no session: {error:?}");
}
