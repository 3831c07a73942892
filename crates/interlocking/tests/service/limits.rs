//! Limits that runs with budgets of their own share.

use crate::{SECOND, id, output, service};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, AgentErrorKind, Sessions, Turn, TurnContext, Usage};
use interlocking::prelude::*;
use interlocking::runtime::{Allowance, Backoff, Budgets, Event, EventKind, MemoryJournal, SharedLimits};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

#[derive(serde::Serialize, serde::Deserialize, Template)]
#[template(source = "{{ self.0 }}", ext = "txt")]
struct Task(String);

/// Two calls of an agent, one after the other.
#[derive(Graph, Default)]
#[graph(output = bool)]
struct Twice {
    #[node(entry, input = Task, output = Said, goto(second))]
    first: LLMNode,
    #[node(input = Said, output = bool, goto(exit))]
    second: LLMNode,
}
held!(Twice);

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, Template)]
#[template(source = "{{ text }}", ext = "txt")]
struct Said {
    text: String,
}

/// An agent that answers after a second, or is rate-limited if the prompt says so. It records when it was called, and how many
/// calls overlapped.
struct Provider {
    sessions: Sessions,
    begun: Instant,
    calls: Mutex<Vec<(u64, String)>>,
    now: AtomicU32,
    most: AtomicU32,
    /// How many of the first calls are refused, each with a wait of ten seconds.
    refuses: AtomicU32,
}

impl Provider {
    fn new(refuses: u32) -> Arc<Self> {
        Arc::new(Self {
            sessions: Sessions::new(),
            begun: Instant::now(),
            calls: Mutex::default(),
            now: AtomicU32::new(0),
            most: AtomicU32::new(0),
            refuses: AtomicU32::new(refuses),
        })
    }
}

#[async_trait]
impl Agent for Provider {
    fn name(&self) -> &str {
        "provider"
    }
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<interlocking::agents::Reply, AgentError> {
        let fresh = || SessionId::new(format!("s-{}", self.calls.lock().unwrap().len())).unwrap();
        let session = turn.session.origin().cloned().unwrap_or_else(fresh);
        context.started(&session)?;
        self.calls.lock().unwrap().push((self.begun.elapsed().as_secs(), turn.prompt.clone()));
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(SECOND).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        let usage = Usage { calls: 1, ..Usage::default() };
        if self.refuses.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            let kind = AgentErrorKind::RateLimited { retry_after: Some(10 * SECOND) };
            return Err(AgentError::new(kind).in_session(session, usage));
        }
        let output = if turn.prompt == "second" { json!(true) } else { json!({ "text": "second" }) };
        Ok(interlocking::agents::Reply { output: Some(output), text: None, session, usage, decisions: Vec::new() })
    }
}

fn twice(provider: &Arc<Provider>) -> Run<Twice> {
    Run::new(Twice::default()).with_agent_for_others(provider.clone())
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_are_under_way_at_once_than_all_runs_together_may_have() {
    let (journal, provider) = (Arc::new(MemoryJournal::new()), Provider::new(0));
    let service = service(&journal).with_limits(SharedLimits::new(Some(2)));
    let names: Vec<_> = (0..5).map(|number| id(&format!("r{number}"))).collect();
    for name in &names {
        service.start(name, twice(&provider), Task(name.to_string())).await.unwrap();
    }
    for name in &names {
        service.ended(name).await;
        assert_eq!(output(&service, name, twice(&provider)).await, Some(true));
    }
    assert_eq!(provider.most.load(Ordering::SeqCst), 2);
    assert_eq!(provider.begun.elapsed().as_secs(), 5, "ten calls of a second, two at a time");
}

/// The outcome of a run, as its listeners are told.
async fn outcome(service: &interlocking::runtime::service::Service, run: &RunId) -> String {
    let mut events = service.events(run).unwrap();
    while let Some(event) = events.next().await {
        if let Event { kind: EventKind::RunEnded { outcome, .. }, .. } = event {
            return outcome.into_owned();
        }
    }
    panic!("the run has not ended")
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_used_up_is_that_of_one_run() {
    let (journal, provider) = (Arc::new(MemoryJournal::new()), Provider::new(0));
    let service = service(&journal).with_limits(SharedLimits::new(Some(2)));
    let short = twice(&provider).with_budgets(Budgets::unlimited().with_calls(1));
    service.start(&id("short"), short, Task("a".to_owned())).await.unwrap();
    service.start(&id("other"), twice(&provider), Task("b".to_owned())).await.unwrap();
    let (short, other) = (id("short"), id("other"));
    let (short, other) = tokio::join!(outcome(&service, &short), outcome(&service, &other));
    assert_eq!((&*short, &*other), ("budget_exhausted", "finished"));
}

/// The first call of one run is refused. The other run waits with it, and is not refused.
#[tokio::test(start_paused = true)]
async fn a_provider_that_refuses_is_left_alone_by_all_runs() {
    let (journal, provider) = (Arc::new(MemoryJournal::new()), Provider::new(1));
    let service = service(&journal);
    service.start(&id("a"), twice(&provider), Task("a".to_owned())).await.unwrap();
    // Begins after the provider's refusal.
    tokio::time::sleep(3 * SECOND / 2).await;
    service.start(&id("b"), twice(&provider), Task("b".to_owned())).await.unwrap();
    for name in ["a", "b"] {
        service.ended(&id(name)).await;
        assert_eq!(output(&service, &id(name), twice(&provider)).await, Some(true));
    }
    let calls = provider.calls.lock().unwrap().clone();
    let times: Vec<_> = calls.iter().map(|(second, _)| *second).collect();
    assert_eq!(times[0], 0);
    assert!(times[1..].iter().all(|second| *second >= 11), "{calls:?}");
}

/// A run's patience is its own: a run with little patience gives up, and the others go on.
#[tokio::test(start_paused = true)]
async fn a_run_gives_a_provider_up_for_itself_alone() {
    let (journal, provider) = (Arc::new(MemoryJournal::new()), Provider::new(2));
    let service = service(&journal);
    let hasty = twice(&provider).with_backoff(Backoff::default().with_retries(0));
    service.start(&id("hasty"), hasty, Task("a".to_owned())).await.unwrap();
    service.start(&id("patient"), twice(&provider), Task("b".to_owned())).await.unwrap();
    let (hasty, patient) = (id("hasty"), id("patient"));
    let (hasty, patient) = tokio::join!(outcome(&service, &hasty), outcome(&service, &patient));
    assert_eq!((&*hasty, &*patient), ("provider_limited", "finished"));
}

/// If one run gives up at a refusal, the other runs still know of it: they wait as long as the provider said before they call.
#[tokio::test(start_paused = true)]
async fn a_provider_that_one_run_gave_up_on_is_left_alone_by_the_others() {
    let (journal, provider) = (Arc::new(MemoryJournal::new()), Provider::new(1));
    let service = service(&journal);
    let backoff = |max| Backoff::default().with_max_elapsed(max);
    service.start(&id("a"), twice(&provider).with_backoff(backoff(SECOND)), Task("a".to_owned())).await.unwrap();
    assert_eq!(outcome(&service, &id("a")).await, "provider_limited");
    // A run that does not wait for so long gives up too, without a call; a run that waits is served.
    service.start(&id("b"), twice(&provider).with_backoff(backoff(2 * SECOND)), Task("b".to_owned())).await.unwrap();
    service.start(&id("c"), twice(&provider), Task("c".to_owned())).await.unwrap();
    service.ended(&id("b")).await;
    assert!(provider.begun.elapsed() < 2 * SECOND, "it does not wait");
    assert!(service.report(&id("b"), twice(&provider)).await.unwrap().is_none(), "it can be resumed");
    assert_eq!(outcome(&service, &id("c")).await, "finished");
    let calls = provider.calls.lock().unwrap().clone();
    let prompts: Vec<_> = calls.iter().map(|(second, prompt)| (*second, prompt.as_str())).collect();
    assert_eq!(prompts, [(0, "a"), (11, "c"), (12, "second")]);
}

/// Runs may share an allowance, which has its own limits: they stay within its budget together.
#[tokio::test(start_paused = true)]
async fn runs_of_a_service_share_an_allowance() {
    let (journal, provider) = (Arc::new(MemoryJournal::new()), Provider::new(0));
    let service = service(&journal);
    let allowance = Allowance::new(Budgets::unlimited().with_calls(3), Backoff::default());
    let (a, b) = (id("a"), id("b"));
    for name in [&a, &b] {
        let run = twice(&provider).with_allowance(allowance.clone());
        service.start(name, run, Task(name.to_string())).await.unwrap();
    }
    let (one, other) = tokio::join!(outcome(&service, &a), outcome(&service, &b));
    let mut outcomes = [one, other];
    outcomes.sort();
    assert_eq!(outcomes, ["budget_exhausted", "finished"]);
    assert_eq!(provider.calls.lock().unwrap().len(), 3);
}
