//! What a run and its children use together: one budget and one patience for all, and how the run goes on with a
//! larger budget.

use crate::support::{finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{
    Agent, AgentError, AgentErrorKind, Reply as AgentReply, Sessions, Turn, TurnContext, Usage,
};
use interlocking::prelude::*;
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::{Backoff, BudgetExceeded, Budgets, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

#[derive(Template)]
#[template(source = "Child {{ child }}, call {{ call }}.", ext = "txt")]
struct CallPrompt {
    child: u32,
    call: u32,
}

/// Makes three calls.
#[derive(Graph)]
#[graph(output = u32)]
struct Worker {
    #[node(entry, input = (u32, u32), prompt = CallPrompt, output = bool, agent = "worker", goto(call, exit), visits = 3)]
    call: LLMNode<Call>,
}

/// A run with the given number of workers.
#[derive(Graph)]
#[graph(output = Vec<u32>)]
struct Household {
    #[node(entry, input = u32, map = Worker, goto(exit))]
    workers: MapNode<Workers>,
}
held!(Worker, Household, Consulted);

struct Call;
impl LLMHandler<worker::call> for Call {
    async fn before<'a>(&'a self, input: &'a (u32, u32), _: &mut Cx<'_, worker::call>) -> Ask<CallPrompt> {
        let (child, call) = *input;
        Ok((CallPrompt { child, call }, SessionOp::StartFresh(Slug::new("call")?)))
    }
    async fn after(
        &self,
        (child, call): (u32, u32),
        _: Reply<bool>,
        cx: &mut Cx<'_, worker::call>,
    ) -> Route<worker::call> {
        if call == 3 { goto!(cx, worker::exit, child) } else { goto!(cx, worker::call, (child, call + 1)) }
    }
}

struct Workers;
impl MapHandler<household::workers> for Workers {
    fn graph(&self, _: &Cx<'_, household::workers>) -> Result<Arc<Worker>, NodeError> {
        Ok(Arc::new(Worker { call: LLMNode(Call) }))
    }
    async fn items(&self, number: &u32, _: &mut Cx<'_, household::workers>) -> Result<Vec<Item<Worker>>, NodeError> {
        Ok((0..*number).map(|child| Item::new((child, 1))).collect())
    }
    async fn gather(
        &self,
        _: u32,
        children: Children<Worker>,
        cx: &mut Cx<'_, household::workers>,
    ) -> Route<household::workers> {
        let results = children
            .all()
            .await
            .into_iter()
            .map(|child| child.result.map_err(Box::new))
            .collect::<Result<Vec<_>, _>>()?;
        goto!(cx, household::exit, results)
    }
}

fn household() -> Household {
    Household { workers: MapNode(Workers) }
}

/// An agent that takes a second, and whose provider may be down.
#[derive(Default)]
struct Provided {
    sessions: Sessions,
    down: AtomicBool,
    calls: AtomicU32,
    answered: AtomicU32,
}

impl Provided {
    fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Agent for Provided {
    fn name(&self) -> &str {
        "provided"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, _: &Turn) -> Result<AgentReply, AgentError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        pass(1_000).await;
        if self.down.load(Ordering::SeqCst) {
            return Err(AgentErrorKind::Overloaded.into());
        }
        let session = SessionId::new(format!("s-{call}")).unwrap();
        context.started(&session)?;
        self.answered.fetch_add(1, Ordering::SeqCst);
        let usage = Usage { calls: 1, output_tokens: 10, ..Usage::default() };
        Ok(AgentReply { output: Some(json!(true)), ..AgentReply::new(session, usage) })
    }
}

struct Ledgers {
    agent: Arc<Provided>,
    journal: Arc<MemoryJournal>,
}

impl Ledgers {
    fn new() -> Self {
        Self { agent: Arc::default(), journal: Arc::default() }
    }

    fn run(&self, budgets: Budgets) -> Run<Household> {
        let run = timed(household()).with_agent("worker", self.agent.clone()).with_journal(self.journal.clone());
        run.with_budgets(budgets).with_backoff(Backoff::default().with_retries(10).with_seed(1))
    }
}

fn used_up<O: std::fmt::Debug>(report: &Report<O>) -> BudgetExceeded {
    match &report.outcome {
        Outcome::BudgetExhausted(used_up) => *used_up,
        other => panic!("not at the end of a budget: {other:?}"),
    }
}

/// With ten children and twelve calls, every call counts, and no call is repeated or interrupted.
#[tokio::test(start_paused = true)]
async fn a_household_goes_on_with_a_larger_budget_where_it_stood() {
    let ledgers = Ledgers::new();
    let calls = |calls| Budgets::unlimited().with_calls(calls);
    let report = ledgers.run(calls(12)).start(10).await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 12, used: 12 });
    assert_eq!(report.took.as_millis(), 2_000);
    let summaries = ledgers.journal.runs().await.unwrap();
    assert_eq!(summaries.len(), 11);
    assert!(summaries.iter().all(|summary| summary.ended.is_none()), "{summaries:?}");

    let report = ledgers.run(calls(12)).resume().await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 12, used: 12 }, "no more than before");
    assert_eq!(ledgers.agent.calls(), 12);

    let report = ledgers.run(calls(25)).resume().await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 25, used: 25 }, "with those of before");
    assert_eq!(ledgers.agent.calls(), 25);

    let report = ledgers.run(calls(30)).resume().await.unwrap();
    assert_eq!(finished(report), (0..10).collect::<Vec<_>>());
    assert_eq!(ledgers.agent.calls(), 30, "three for each child");
}

#[tokio::test(start_paused = true)]
async fn a_household_without_a_journal_ends_the_same_way() {
    let ledgers = Ledgers::new();
    let report = ledgers.run(Budgets::unlimited().with_calls(12)).without_journal().start(10).await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 12, used: 12 });
    assert_eq!((report.took.as_millis(), ledgers.agent.answered.load(Ordering::SeqCst)), (2_000, 12));
}

#[tokio::test(start_paused = true)]
async fn concurrency_and_depth_are_those_of_the_household() {
    let ledgers = Ledgers::new();
    let report = ledgers.run(Budgets::unlimited().with_concurrency(4)).start(10).await.unwrap();
    assert_eq!(report.took.as_millis(), 8_000, "thirty calls, four at a time");
    let ledgers = Ledgers::new();
    let report = ledgers.run(Budgets::unlimited().with_depth(0)).start(10).await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Depth { limit: 0, used: 1 });
    let report = ledgers.run(Budgets::unlimited().with_depth(0)).resume().await.unwrap();
    assert_eq!((used_up(&report), ledgers.agent.calls()), (BudgetExceeded::Depth { limit: 0, used: 1 }, 0));
    assert_eq!(finished(ledgers.run(Budgets::unlimited().with_depth(1)).resume().await.unwrap()).len(), 10);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_household_is_one_and_begins_anew_when_it_is_resumed() {
    let ledgers = Ledgers::new();
    let limit = Duration::from_millis(1_500);
    let run = || ledgers.run(Budgets::unlimited().with_wall_time(limit));
    let report = run().start(10).await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::WallTime { limit, used: limit });
    assert_eq!(report.took.as_millis(), 1_500);
    let summaries = ledgers.journal.runs().await.unwrap();
    assert!(summaries.iter().all(|summary| summary.ended.is_none()), "{summaries:?}");
    assert_eq!(used_up(&run().resume().await.unwrap()), BudgetExceeded::WallTime { limit, used: limit });
    assert_eq!(finished(run().resume().await.unwrap()).len(), 10);
    assert_eq!(ledgers.agent.answered.load(Ordering::SeqCst), 30, "what had been answered was not asked again");
}

/// A fan-out that a rate limit stops must not respond with retries in each branch.
#[tokio::test(start_paused = true)]
async fn an_outage_ends_a_household_of_fifty_after_few_calls_and_loses_nothing() {
    let ledgers = Ledgers::new();
    ledgers.agent.down.store(true, Ordering::SeqCst);
    let report = ledgers.run(Budgets::unlimited()).start(50).await.unwrap();
    let Outcome::ProviderLimited(limit) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((limit.retries, limit.agent.as_str()), (10, "provided"));
    assert_eq!(limit.message, "the provider is overloaded or broken");
    assert_eq!(ledgers.agent.calls(), 50 + 10);

    ledgers.agent.down.store(false, Ordering::SeqCst);
    let report = ledgers.run(Budgets::unlimited()).resume().await.unwrap();
    assert_eq!(finished(report).len(), 50);
    assert_eq!(ledgers.agent.calls(), 60 + 150);
}

/// A process that cancels a child holds it for a moment. If a child is held for longer, the whole tree stops.
#[tokio::test(start_paused = true)]
async fn a_child_that_is_held_for_a_moment_is_waited_for() {
    let ledgers = Ledgers::new();
    ledgers.run(Budgets::unlimited().with_calls(2)).start(2).await.unwrap();
    let child = ledgers.journal.children(&RunId::DEFAULT).await.unwrap().remove(0).run;
    let resumed = || ledgers.run(Budgets::unlimited()).resume();
    let held = ledgers.journal.claim(&child).await.unwrap();
    assert_eq!(resumed().await.unwrap().outcome.name(), "journal_failed");
    let (report, ()) = tokio::join!(resumed(), async {
        pass(500).await;
        drop(held);
    });
    assert_eq!(finished(report.unwrap()), [0, 1]);
}

#[derive(Clone, Serialize, Deserialize)]
struct Question(String);

/// A person and an agent are asked at the same time.
#[derive(Graph)]
#[graph(output = bool)]
struct Consulted {
    #[node(entry, input = (), fork(person, agent))]
    split: ForkNode<Split>,
    #[node(input = (), question = Question, answer = bool, goto(both))]
    person: HumanNode<Asks>,
    #[node(input = (), prompt = CallPrompt, output = bool, agent = "worker", goto(both))]
    agent: LLMNode<Asks>,
    #[node(join(person: bool, agent: bool), goto(exit))]
    both: JoinNode<Both>,
}

forks!(Split for consulted::split, |_: (), cx| fork!(cx, ((), ())));
joins!(Both for consulted::both, |(person, agent): (bool, bool), cx| goto!(cx, consulted::exit, person && agent));
struct Asks;
impl HumanHandler<consulted::person> for Asks {
    async fn ask(&self, (): &(), _: &mut Cx<'_, consulted::person>) -> Result<Question, NodeError> {
        Ok(Question("Well?".to_owned()))
    }
    async fn answered(&self, (): (), answer: bool, cx: &mut Cx<'_, consulted::person>) -> Route<consulted::person> {
        goto!(cx, consulted::both, answer)
    }
}
impl LLMHandler<consulted::agent> for Asks {
    async fn before<'a>(&'a self, (): &'a (), _: &mut Cx<'_, consulted::agent>) -> Ask<CallPrompt> {
        Ok((CallPrompt { child: 1, call: 1 }, SessionOp::StartFresh(Slug::new("ask")?)))
    }
    async fn after(&self, (): (), reply: Reply<bool>, cx: &mut Cx<'_, consulted::agent>) -> Route<consulted::agent> {
        goto!(cx, consulted::both, reply.output)
    }
}

/// The run needs a person's answer *and* a larger budget: the outcome names the budget, which can be raised at
/// once.
#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_a_person_and_is_short_of_calls_says_that_it_is_short() {
    let ledgers = Ledgers::new();
    let run = |calls| {
        let graph =
            Consulted { split: ForkNode(Split), person: HumanNode(Asks), agent: LLMNode(Asks), both: JoinNode(Both) };
        let run = timed(graph).with_agent("worker", ledgers.agent.clone()).with_journal(ledgers.journal.clone());
        run.with_budgets(Budgets::unlimited().with_calls(calls))
    };
    let report = run(0).start(()).await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 0, used: 0 });
    let report = run(1).resume().await.unwrap();
    let Outcome::Waiting { questions } = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((questions.len(), ledgers.agent.calls()), (1, 1));
}
