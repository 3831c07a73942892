//! Providers that limit, are overloaded or cannot be reached: waits that a whole run tree shares.

use crate::budgets::entries;
use crate::support::{Log, Recording, both_ways, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{
    Agent, AgentError, AgentErrorKind, Reply as AgentReply, SessionOpKind, Sessions, Turn, TurnContext, Usage,
};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{Allowance, Backoff, Budgets, CancelToken, MemoryJournal, ProviderLimit};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Template)]
#[template(source = "Attempt {{ attempt }}.", ext = "txt")]
struct AskPrompt {
    attempt: u32,
}

/// One call, of a node that has one attempt.
#[derive(Graph)]
#[graph(output = (u32, u32))]
struct Asking {
    #[node(entry, input = (), prompt = AskPrompt, output = bool, agent = "asked", goto(exit), visits = 1)]
    ask: LLMNode<Asks>,
}

held!(Asking);

struct Asks;
impl LLMHandler<asking::ask> for Asks {
    async fn before<'a>(&'a self, (): &'a (), cx: &mut Cx<'_, asking::ask>) -> Ask<AskPrompt> {
        Ok((AskPrompt { attempt: cx.attempt() }, SessionOp::StartFresh(Slug::new("ask")?)))
    }
    async fn after(&self, (): (), reply: Reply<bool>, cx: &mut Cx<'_, asking::ask>) -> Route<asking::ask> {
        goto!(cx, asking::exit, (reply.usage.calls, cx.attempt()))
    }
}

fn asking() -> Asking {
    Asking { ask: LLMNode(Asks) }
}

fn backoff() -> Backoff {
    Backoff::default().with_seed(7)
}

fn limited<O: std::fmt::Debug>(report: &Report<O>) -> &ProviderLimit {
    match &report.outcome {
        Outcome::ProviderLimited(limit) => limit,
        other => panic!("not limited: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_provider_are_waited_out_and_are_no_attempts() {
    let script = "[[turn]]\nfail = 'rate_limited'\ncost = 0.25\n[[turn]]\nfail = 'overloaded'\ncost = 0.25\n\
                  [[turn]]\nfail = 'connection'\ncost = 0.25\n[[turn]]\noutput_json = 'true'\ncost = 0.25\n";
    for run in both_ways(asking) {
        let (agent, log) = (Recording::new(script), Log::new());
        let run = run.with_agent("asked", agent.clone()).with_backoff(backoff()).with_events(log.sink());
        let report = run.start(()).await.unwrap();
        assert_eq!(report.visits_of("ask"), 1);
        assert_eq!(
            report.usage().to_string(),
            "$1.00 in 4 calls, 0 tokens in, 0 tokens out",
            "failed tries are booked"
        );
        let took = report.took.as_millis();
        assert!((1..7_000).contains(&took), "{took}: three waits of at most 1, 2 and 4 s");
        assert_eq!(finished(report), (4, 1), "four calls, one attempt");
        let turns = agent.turns();
        assert!(turns.iter().all(|turn| turn.prompt == "Attempt 1."));
        let kinds: Vec<_> = turns.iter().map(|turn| turn.session.kind()).collect();
        assert_eq!(kinds[0], SessionOpKind::Fresh);
        assert_eq!(kinds[1..], [SessionOpKind::Continue; 3], "in the session that it had begun");
        assert_eq!(log.lines().matches("agent ask 1.1 \"retry\"").count(), 3, "{}", log.lines());
    }
}

#[tokio::test(start_paused = true)]
async fn the_waits_repeat_themselves_under_one_seed_and_differ_under_others() {
    let script = "[[turn]]\nfail = 'overloaded'\ntimes = 9\n[[turn]]\noutput_json = 'true'\n";
    let took = |backoff: Backoff| async move {
        let run = timed(asking()).with_agent("asked", Recording::new(script)).with_backoff(backoff);
        run.start(()).await.unwrap().took
    };
    let (one, same, other) = (took(backoff()).await, took(backoff()).await, took(backoff().with_seed(8)).await);
    assert_eq!(one, same);
    assert_ne!(one, other);
    let bounded = backoff().with_max_delay(SECOND);
    assert!(took(bounded).await.as_duration() <= 9 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_says_is_waited_for() {
    let script = "[[turn]]\nfail = 'rate_limited'\nretry_after = '90s'\n[[turn]]\noutput_json = 'true'\n";
    let run = timed(asking()).with_agent("asked", Recording::new(script)).with_backoff(backoff());
    let report = run.start(()).await.unwrap();
    assert_eq!(report.took.as_millis(), 90_000, "which is more than any wait of its own");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_for_more_patience_than_there_is_ends_the_run_at_once() {
    let script = "[[turn]]\nfail = 'rate_limited'\nretry_after = '5h'\ncost = 0.5\n";
    let journal = Arc::new(MemoryJournal::new());
    let run = timed(asking()).with_agent("asked", Recording::new(script)).with_journal(journal.clone());
    let report = run.with_backoff(backoff()).start(()).await.unwrap();
    assert_eq!(report.took.as_millis(), 0);
    let limit = limited(&report);
    assert_eq!((limit.agent.as_str(), limit.retry_after), ("recording", Some(5 * 3_600 * SECOND)));
    assert_eq!(
        limit.to_string(),
        "the provider of agent `recording` still fails after 0 waits of 0ns together: \
         the provider limits the rate of requests; it says to try again after 18000s"
    );
    // The run can be resumed, and its costs are recorded.
    let records = entries(&journal, &report);
    let [_, spent] = &records[..] else { panic!("{records:?}") };
    let Entry::Spent { calls, .. } = spent else { panic!("{spent:?}") };
    assert_eq!(calls[0].usage.cost.to_string(), "$0.50");
}

#[tokio::test(start_paused = true)]
async fn patience_ends() {
    let script = "[[turn]]\nfail = 'overloaded'\ntimes = 'any'\n";
    let (agent, patience) = (Recording::new(script), 600 * SECOND);
    let run = timed(asking()).with_agent("asked", agent.clone()).with_backoff(backoff().with_max_elapsed(patience));
    let report = run.start(()).await.unwrap();
    let limit = limited(&report);
    assert!(limit.waited <= patience && limit.waited > patience - 60 * SECOND, "{limit}");
    let rounded = report.took.as_duration().abs_diff(limit.waited);
    assert!(rounded < limit.retries * Duration::from_millis(1), "timers are exact to a millisecond: {rounded:?}");
    assert_eq!(agent.turns().len() as u32, 1 + limit.retries);
    assert!(limit.retries < 60, "the waits grow: {limit}");
}

#[tokio::test(start_paused = true)]
async fn whoever_is_stopped_while_it_waits_has_made_no_further_call() {
    let script = "[[turn]]\nfail = 'rate_limited'\nretry_after = '90s'\ncost = 0.5\n";
    let cancel = CancelToken::new();
    let run = timed(asking()).with_agent("asked", Recording::new(script)).with_cancel(cancel.clone());
    let (report, ()) = tokio::join!(run.start(()), async {
        pass(10_000).await;
        cancel.cancel();
    });
    let report = report.unwrap();
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert_eq!(report.usage().to_string(), "$0.50 in 1 call, 0 tokens in, 0 tokens out", "and not `at least`");
}

/// A provider for tests.
struct Provider {
    name: &'static str,
    sessions: Sessions,
    /// It refuses all calls for this long.
    down_for: Duration,
    /// It refuses the calls beyond so many at once.
    capacity: u32,
    began: Instant,
    now: AtomicU32,
    calls: AtomicU32,
    refused: AtomicU32,
}

impl Provider {
    fn new(name: &'static str, down_for: Duration, capacity: u32) -> Arc<Self> {
        let (sessions, began) = (Sessions::new(), Instant::now());
        let (now, calls, refused) = Default::default();
        Arc::new(Self { name, sessions, down_for, capacity, began, now, calls, refused })
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }

    fn refused(&self) -> u32 {
        self.refused.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Agent for Provider {
    fn name(&self) -> &str {
        self.name
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, _: &TurnContext<'_>, _: &Turn) -> Result<AgentReply, AgentError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        // As with a real provider, the error comes after a moment: all branches have called by then.
        let crowded = self.now.fetch_add(1, Ordering::SeqCst) >= self.capacity;
        pass(100).await;
        let down = self.began.elapsed() < self.down_for;
        if !down && !crowded {
            pass(1_000).await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
        if down || crowded {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(AgentErrorKind::RateLimited { retry_after: None }.into());
        }
        let session = SessionId::new(format!("s-{call}")).unwrap();
        let usage = Usage { calls: 1, ..Usage::default() };
        Ok(AgentReply { output: Some(json!(true)), ..AgentReply::new(session, usage) })
    }
}

/// Runs side by side that share an allowance, as the children of one node do.
async fn branches(number: u32, agent: &Arc<Provider>, backoff: Backoff) -> Vec<Report<(u32, u32)>> {
    let allowance = Allowance::new(Budgets::unlimited(), backoff);
    let mut branches = JoinSet::new();
    for _ in 0..number {
        let run = timed(asking()).with_agent("asked", agent.clone());
        branches.spawn(run.with_allowance(allowance.child().unwrap()).start(()));
    }
    branches.join_all().await.into_iter().map(Result::unwrap).collect()
}

/// A storm of refusals in which each branch retries by itself must not happen.
#[tokio::test(start_paused = true)]
async fn a_storm_of_refusals_is_bounded_whatever_the_number_of_branches() {
    for number in [1, 50, 200] {
        let provider = Provider::new("limited", Duration::MAX, 0);
        let reports = branches(number, &provider, backoff().with_retries(20)).await;
        assert_eq!(provider.calls(), number + 20, "each branch calls once, and then one asks for all");
        assert_eq!(reports.len() as u32, number);
        for report in &reports {
            assert_eq!(limited(report).retries, 20);
        }
        let booked: u32 = reports.iter().map(|report| report.ledger.entries().len() as u32).sum();
        assert_eq!(booked, number, "one turn each");
    }
}

/// Over many seeds, outages and capacities: every branch gets an answer in one attempt, for a bounded number of calls.
#[tokio::test(start_paused = true)]
async fn after_an_outage_all_branches_come_through() {
    let mut all_refused = 0;
    for seed in 0..40 {
        let down_for = [0, 3, 60, 900][seed as usize % 4] * SECOND;
        let capacity = [1, 2, 8, 25, 50][seed as usize % 5];
        let provider = Provider::new("limited", down_for, capacity);
        let reports = branches(50, &provider, Backoff::default().with_seed(seed)).await;
        for report in reports {
            assert_eq!(finished(report).1, 1, "attempts");
        }
        assert_eq!(provider.calls() - provider.refused(), 50, "each was answered once");
        let refused = provider.refused();
        all_refused += refused;
        // Each branch once at the start, one call beyond the capacity after each answer, and one for each wait of the outage.
        let waits = 10 + down_for.as_secs() as u32 / 15;
        assert!(
            refused <= 50 + 50 + waits,
            "seed {seed}, down for {down_for:?}, {capacity} at once: {refused} refused"
        );
    }
    assert!(all_refused > 0, "nobody was refused: the test shows nothing");
}

#[tokio::test(start_paused = true)]
async fn agents_of_other_names_do_not_wait() {
    let (limited, free) = (Provider::new("limited", 60 * SECOND, 9), Provider::new("free", Duration::ZERO, 9));
    let allowance = Allowance::new(Budgets::unlimited(), backoff());
    let run = |agent: &Arc<Provider>| {
        timed(asking()).with_agent("asked", agent.clone()).with_allowance(allowance.clone()).start(())
    };
    let (slow, quick) = tokio::join!(run(&limited), async {
        pass(500).await;
        run(&free).await
    });
    assert_eq!(quick.unwrap().took.as_millis(), 1_100);
    assert!(slow.unwrap().took.as_millis() > 60_000);
}

/// A call that waits for one provider does not delay calls to another.
#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_provider_keeps_nobody_from_calling() {
    let (limited, free) = (Provider::new("limited", 60 * SECOND, 9), Provider::new("free", Duration::ZERO, 9));
    let allowance = Allowance::new(Budgets::unlimited().with_concurrency(1), backoff());
    let run = |agent: &Arc<Provider>| {
        timed(asking()).with_agent("asked", agent.clone()).with_allowance(allowance.clone()).start(())
    };
    let (_, _, quick) = tokio::join!(run(&limited), run(&limited), async {
        pass(500).await;
        run(&free).await
    });
    assert!(quick.unwrap().took.as_millis() <= 1_300);
}
