//! Each fault is injected and handled.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use interlocking_agents::faults::{Fault, FaultPlan, FaultyAgent, Injected, Rule};
use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, CallGate, CallPermit, CallRefused, Completion, Conversation,
    Disposition, Interrupt, NoEvents, Nudges, SessionError, SessionOp, SessionOpKind, Turn, Usage,
};
use serde_json::json;
use tokio::time::Instant;

use crate::common::{Recorded, agent, article_schema, fork, fresh, fresh_in, go_on, id};

const SECOND: Duration = Duration::from_secs(1);

/// Answers any prompt, any number of times.
const WILLING: &str = r#"
    [[turn]]
    times = "any"
    text = "Here it is."
    output = { title = "Borrowing", words = 5 }
    cost = 0.25
"#;

fn faulty(script: &str, plan: FaultPlan) -> FaultyAgent {
    FaultyAgent::new(Arc::new(agent(script)), plan)
}

/// An agent with this script whose first call has this fault.
fn once(fault: Fault) -> FaultyAgent {
    faulty(WILLING, FaultPlan::new().with(Rule::new(fault)))
}

fn article() -> Turn {
    Turn { schema: Some(article_schema()), ..fresh("Write.") }
}

async fn ask(agent: &FaultyAgent, turn: Turn) -> Result<Completion, AgentError> {
    Conversation::new(agent).run(turn, &NoEvents).await
}

/// Permits every call, and requests a retry for every failure.
struct Patient;

struct Again;

#[async_trait]
impl CallGate for Patient {
    async fn acquire(&self, _: &str) -> Result<Box<dyn CallPermit + '_>, CallRefused> {
        Ok(Box::new(Again))
    }
}

impl CallPermit for Again {
    fn ended(self: Box<Self>, outcome: Result<Usage, &AgentError>) -> bool {
        outcome.is_err()
    }
}

#[tokio::test]
async fn calls_that_are_turned_away_cost_nothing_and_say_what_helps() {
    let wait = Some(3 * SECOND);
    let refused = |reason: &str| AgentErrorKind::Refused { reason: reason.to_owned() };
    let cut = |reason: &str| AgentErrorKind::Connection { reason: reason.to_owned() };
    let again = Disposition::Retry { after: None };
    for (fault, kind, disposition) in [
        (
            Fault::RateLimited { retry_after: wait },
            AgentErrorKind::RateLimited { retry_after: wait },
            Disposition::Retry { after: wait },
        ),
        (Fault::Overloaded, AgentErrorKind::Overloaded, again.clone()),
        (Fault::ConnectionRefused, cut("connection refused (injected)"), again),
        (Fault::Refused, refused("injected"), Disposition::GiveUp),
        (Fault::PromptTooLong, AgentErrorKind::PromptTooLong, Disposition::GiveUp),
    ] {
        let agent = once(fault.clone());
        let error = ask(&agent, article()).await.unwrap_err();
        assert_eq!(error.disposition(), disposition, "{fault:?}");
        assert_eq!((*error.kind, error.session), (kind, None));
        assert_eq!(error.usage.to_string(), "$0.00 in 1 call, 0 tokens in, 0 tokens out");
        assert_eq!(agent.injected_of(fault.name()), 1);
        assert!(ask(&agent, article()).await.is_ok(), "once, not more");
        assert_eq!((agent.calls(), agent.unused()), (2, Vec::new()));
    }
}

#[tokio::test]
async fn a_storm_passes() {
    let agent = faulty(WILLING, FaultPlan::new().with_rate_limiting(5, None));
    let recorded = Recorded::default();
    let conversation = Conversation::new(&agent).with_call_gate(&Patient);
    let completion = conversation.run(article(), &recorded.sink()).await.unwrap();
    assert_eq!(completion.usage.to_string(), "$0.25 in 6 calls, 0 tokens in, 0 tokens out");
    assert_eq!(agent.injected_of("rate_limited"), 5);
    let repeated = recorded.events().iter().filter(|event| matches!(event, AgentEvent::Retry { .. })).count();
    assert_eq!(repeated, 5);
}

#[tokio::test(start_paused = true)]
async fn a_delay_takes_time_and_nothing_else() {
    let (agent, start) = (once(Fault::Delay(90 * SECOND)), Instant::now());
    let completion = ask(&agent, article()).await.unwrap();
    assert_eq!((start.elapsed(), completion.usage.calls), (90 * SECOND, 1));
    assert_eq!(agent.injected(), [Injected { call: 1, role: None, fault: Fault::Delay(90 * SECOND) }]);

    // An interrupt during the delay ends the call without calling the agent.
    let (agent, interrupt) = (once(Fault::Delay(90 * SECOND)), Interrupt::new());
    interrupt.request();
    let conversation = Conversation::new(&agent).with_interrupt(interrupt);
    let error = conversation.run(article(), &NoEvents).await.unwrap_err();
    assert_eq!((*error.kind, error.usage.unpriced_calls), (AgentErrorKind::Cancelled, 0));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_stalls_is_reminded_in_the_session_that_it_began() {
    for (after_events, continued) in [(0, false), (1, true), (2, true)] {
        let agent = once(Fault::Stall { after_events });
        let (start, recorded) = (Instant::now(), Recorded::default());
        let conversation = Conversation::new(&agent).with_nudges(Nudges::DEFAULT);
        let completion = conversation.run(article(), &recorded.sink()).await.unwrap();
        assert_eq!((start.elapsed(), completion.nudges), (60 * SECOND, 1));
        assert_eq!(completion.usage.to_string(), "at least $0.25 in 2 calls, 0 tokens in, 0 tokens out");
        let before = recorded.events().iter().position(|event| matches!(event, AgentEvent::Finished { .. }));
        assert_eq!(before, Some(after_events as usize), "what it had reported");
        let first_session = if continued { "write-1" } else { completion.session.as_str() };
        assert_eq!(completion.session, id(first_session));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_stalls_waits_for_as_long_as_nobody_interrupts_it() {
    let agent = once(Fault::Stall { after_events: 1 });
    let mut asked = Box::pin(ask(&agent, article()));
    assert!(tokio::time::timeout(100_000 * SECOND, &mut asked).await.is_err());
    let hold = || agent.sessions().hold(&SessionOp::ContinueFrom(id("write-1")), None);
    assert!(matches!(hold(), Err(SessionError::Busy { .. })), "it holds the session that it began");
    drop(asked);
    hold().expect("dropped, it holds nothing");
}

/// The agent writes one file, waits for a command, and would then write another file.
#[tokio::test]
async fn a_crash_in_the_middle_leaves_what_was_done() {
    let script = r#"
        [[turn]]
        times = "any"
        [[turn.write]]
        path = "first.txt"
        content = "1"
        [[turn.run]]
        command = ["sleep", "1000"]
        [[turn.write]]
        path = "second.txt"
        content = "2"
    "#;
    let crash = Fault::Crash { exit: Some(137), after_events: 2 };
    let agent = faulty(script, FaultPlan::new().with(Rule::new(crash).in_role("writer")));
    let workspace = tempfile::tempdir().unwrap();
    let recorded = Recorded::default();
    let turn = Turn { role: Some("writer".to_owned()), ..fresh_in(workspace.path(), "Write.") };
    let error = Conversation::new(&agent).run(turn, &recorded.sink()).await.unwrap_err();
    assert_eq!(error.to_string(), "the agent ended without an answer (exit code 137): injected");
    assert_eq!(error.usage.to_string(), "at least $0.00 in 1 call, 0 tokens in, 0 tokens out");
    assert_eq!(error.disposition(), Disposition::ResumeSession { session: id("write-1"), after: None });
    assert!(workspace.path().join("first.txt").exists() && !workspace.path().join("second.txt").exists());
    let seen = recorded.events();
    assert!(
        matches!(&seen[..], [AgentEvent::Started { .. }, AgentEvent::FileWritten { .. }, AgentEvent::Finished { .. }]),
        "{seen:?}"
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_loses_the_answer_even_at_its_very_end() {
    for after_events in [0, 1, 100] {
        let agent = once(Fault::CutStream { after_events });
        let recorded = Recorded::default();
        let error = Conversation::new(&agent).run(article(), &recorded.sink()).await.unwrap_err();
        assert_eq!(error.to_string(), "no connection to the provider: the stream broke off (injected)");
        assert!(error.kind.is_provider_failure());
        assert_eq!(error.session.is_some(), after_events > 0);
        assert_eq!(error.usage.unpriced_calls, 1);
        // The start, and one text if there was time for it.
        assert_eq!(recorded.events().len() as u32, after_events.min(2) + 1);
    }
    let agent = once(Fault::StepLimit);
    let error = ask(&agent, article()).await.unwrap_err();
    assert_eq!((*error.kind, error.session), (AgentErrorKind::StepLimit, Some(id("write-1"))));
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_text_and_corrected() {
    let agent = once(Fault::InvalidJson);
    let recorded = Recorded::default();
    let completion = Conversation::new(&agent).run(article(), &recorded.sink()).await.unwrap();
    assert_eq!((completion.corrections, &completion.output["words"]), (1, &json!(5)));
    let complaint = recorded.events().into_iter().find_map(|event| match event {
        AgentEvent::Correction { violations, .. } => Some(violations[0].to_string()),
        _ => None,
    });
    assert_eq!(complaint.as_deref(), Some("at the root: there is no structured output, only text"));
}

#[tokio::test]
async fn an_output_that_stays_broken_ends_the_turn() {
    let always = |fault| faulty(WILLING, FaultPlan::new().with(Rule::new(fault).always()));
    let agent = always(Fault::BrokenOutput);
    let error = ask(&agent, article()).await.unwrap_err();
    let AgentErrorKind::OutputInvalid { corrections: 2, violations, output: Some(_), .. } = &*error.kind else {
        panic!("{error:?}");
    };
    assert!(!violations.is_empty());
    assert_eq!((error.usage.calls, agent.injected_of("broken_output")), (3, 3));

    let agent = always(Fault::Output(json!({ "title": "T", "words": -1 })));
    let error = ask(&agent, article()).await.unwrap_err();
    assert!(error.to_string().contains("/words"), "{error}");

    let agent = always(Fault::NoOutput);
    let conversation = Conversation::new(&agent).with_nudges(Nudges::DEFAULT.with_limit(1));
    let error = conversation.run(article(), &NoEvents).await.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::NoDecision { nudges: 1, .. }), "{error:?}");
}

#[tokio::test]
async fn a_huge_output_is_taken_whole_where_it_fits_and_quoted_briefly_where_not() {
    const HUGE: usize = 20_000_000;
    let agent = once(Fault::HugeOutput { bytes: HUGE });
    let completion = ask(&agent, article()).await.unwrap();
    assert_eq!(completion.output["title"].as_str().map(str::len), Some(HUGE));
    assert_eq!(completion.text.map(|text| text.len()), Some(HUGE));

    let wordy = WILLING.replace("words = 5", "words = 'five'");
    let agent = faulty(&wordy, FaultPlan::new().with(Rule::new(Fault::HugeOutput { bytes: HUGE }).always()));
    let error = ask(&agent, article()).await.unwrap_err();
    assert!(error.to_string().len() < 1_000, "{} bytes", error.to_string().len());
}

#[tokio::test]
async fn bytes_that_were_no_utf_8_are_seen_in_texts_alone() {
    let agent = once(Fault::LossyText);
    let recorded = Recorded::default();
    let completion = Conversation::new(&agent).run(article(), &recorded.sink()).await.unwrap();
    assert_eq!(completion.output, json!({ "title": "Borr\u{fffd}owing", "words": 5 }));
    assert_eq!(completion.text.as_deref(), Some("Here \u{fffd}it is."));
    assert!(recorded.events().contains(&AgentEvent::Text { text: "Here \u{fffd}it is.".to_owned() }));
}

#[tokio::test]
async fn a_session_is_lost_by_whoever_has_one() {
    let agent = once(Fault::LostSession);
    let session = ask(&agent, article()).await.unwrap().session;
    assert_eq!(agent.injected_of("lost_session"), 0, "a fresh one cannot be lost");
    let error = ask(&agent, go_on(session.as_str(), "Go on.")).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Unknown { session: session.clone() }));
    assert_eq!((error.session, error.usage.calls), (None, 1));
    assert!(ask(&agent, fork(session.as_str(), "Go on.")).await.is_ok(), "once");
}

#[tokio::test]
async fn rules_choose_their_calls() {
    let plan = FaultPlan::new()
        .with(Rule::new(Fault::Overloaded).on_call(2))
        .with(Rule::new(Fault::Refused).in_role("critic").on_prompt("Judge").times(2))
        .with(Rule::new(Fault::PromptTooLong).on_operation(SessionOpKind::Fork))
        .with(Rule::new(Fault::ConnectionRefused).when(|turn| turn.prompt.len() > 100));
    let agent = faulty(WILLING, plan);
    let critic = |prompt: &str| Turn { role: Some("critic".to_owned()), ..fresh(prompt) };
    let mut outcomes = Vec::new();
    for turn in
        [critic("Read."), critic("Judge."), critic("Judge."), fresh("Judge."), critic("Judge."), critic("Judge.")]
    {
        outcomes.push(ask(&agent, turn).await.map_or_else(|error| error.to_string(), |_| "well".to_owned()));
    }
    assert_eq!(
        outcomes,
        [
            "well",
            "the provider is overloaded or broken",
            "the provider refuses the request: injected",
            "well",
            "the provider refuses the request: injected",
            "well"
        ]
    );
    let unused: Vec<_> = agent.unused().into_iter().map(|rule| (rule.fault, rule.used, rule.expected)).collect();
    assert_eq!(unused, [("prompt_too_long", 0, 1), ("connection_refused", 0, 1)]);
}

#[tokio::test]
async fn what_is_random_follows_from_the_seed() {
    let struck = async |seed| {
        let faults = [Fault::Overloaded, Fault::NoOutput, Fault::LostSession];
        let agent = faulty(WILLING, FaultPlan::new().with_random(seed, 30, faults));
        for _ in 0..200 {
            drop(ask(&agent, fresh("Write.")).await);
        }
        agent.injected().iter().map(|injected| (injected.call, injected.fault.name())).collect::<Vec<_>>()
    };
    let first = struck(7).await;
    assert_eq!(first, struck(7).await);
    assert_ne!(first, struck(8).await);
    // A third of the faults is impossible in a fresh session: about 20 of 100.
    assert!((20..60).contains(&first.len()), "{}", first.len());
    assert!(
        first.iter().any(|(_, fault)| *fault == "overloaded") && first.iter().any(|(_, fault)| *fault == "no_output")
    );
}

#[test]
fn it_is_the_agent_that_it_wraps() {
    let inner = Arc::new(agent(WILLING));
    let agent = FaultyAgent::new(inner.clone(), FaultPlan::new());
    assert_eq!((agent.name(), agent.confines()), (inner.name(), inner.confines()));
    assert_eq!(agent.capabilities(), inner.capabilities());
}
