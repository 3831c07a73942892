//! The bill: the usage that a run reports, emits, records and counts against budgets is one sum, that of all calls of agents,
//! including those of children and of killed turns.

use crate::faltering::Faltering;
use crate::support::{Log, failed, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, Cost, Reply as AgentReply, Sessions, Turn, TurnContext, Usage};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::journal::account::account;
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::{Budgets, CancelToken, EventKind, Journal, MemoryJournal, Outcome, Report};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

#[derive(Template)]
#[template(source = "{{ seconds }}", ext = "txt")]
struct TaskPrompt {
    seconds: u64,
}

#[derive(Graph)]
#[graph(output = u64)]
struct Clerk {
    #[node(entry, input = u64, prompt = TaskPrompt, output = bool, agent = "clerk", goto(exit))]
    work: LLMNode<Work>,
}

struct Work;
impl LLMHandler<clerk::work> for Work {
    async fn before<'a>(&'a self, seconds: &'a u64, _: &mut Cx<'_, clerk::work>) -> Ask<TaskPrompt> {
        Ok((TaskPrompt { seconds: *seconds }, SessionOp::StartFresh(Slug::new("work")?)))
    }
    async fn after(&self, seconds: u64, _: Reply<bool>, cx: &mut Cx<'_, clerk::work>) -> Route<clerk::work> {
        goto!(cx, clerk::exit, seconds)
    }
}

/// Runs a clerk for each task, and signs with an agent of its own.
#[derive(Graph)]
#[graph(output = Vec<u64>)]
struct Firm {
    #[node(entry, input = Vec<u64>, map = Clerk, goto(sign))]
    hire: MapNode<Hire>,
    #[node(input = Vec<u64>, prompt = TaskPrompt, output = bool, agent = "clerk", goto(exit))]
    sign: LLMNode<Sign>,
}
held!(Clerk, Firm, Case, Court);

/// Waits for so many clerks.
struct Hire(usize);
impl MapHandler<firm::hire> for Hire {
    fn graph(&self, _: &Cx<'_, firm::hire>) -> Result<Arc<Clerk>, NodeError> {
        Ok(Arc::new(Clerk { work: LLMNode(Work) }))
    }
    async fn items(&self, tasks: &Vec<u64>, _: &mut Cx<'_, firm::hire>) -> Result<Vec<Item<Clerk>>, NodeError> {
        Ok(tasks.iter().copied().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<u64>,
        mut children: Children<Clerk>,
        cx: &mut Cx<'_, firm::hire>,
    ) -> Route<firm::hire> {
        let mut done = Vec::new();
        while done.len() < self.0 {
            let Some(child) = children.any().await else { break };
            done.push(child.result?);
        }
        goto!(cx, firm::sign, done)
    }
}

struct Sign;
impl LLMHandler<firm::sign> for Sign {
    async fn before<'a>(&'a self, _: &'a Vec<u64>, _: &mut Cx<'_, firm::sign>) -> Ask<TaskPrompt> {
        Ok((TaskPrompt { seconds: 1 }, SessionOp::StartFresh(Slug::new("sign")?)))
    }
    async fn after(&self, done: Vec<u64>, _: Reply<bool>, cx: &mut Cx<'_, firm::sign>) -> Route<firm::sign> {
        goto!(cx, firm::exit, done)
    }
}

/// An agent that takes the given number of seconds, for a cent.
#[derive(Default)]
struct Paid {
    sessions: Sessions,
    calls: AtomicU32,
}

#[async_trait]
impl Agent for Paid {
    fn name(&self) -> &str {
        "paid"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<AgentReply, AgentError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let session = match &turn.session {
            SessionOp::ContinueFrom(session) => session.clone(),
            _ => SessionId::new(format!("s-{call}")).unwrap(),
        };
        context.started(&session)?;
        pass(turn.prompt.parse::<u64>().unwrap() * 1_000).await;
        Ok(AgentReply { output: Some(json!(true)), ..AgentReply::new(session, cents(1)) })
    }
}

/// A number of calls with a price.
fn cents(calls: u32) -> Usage {
    Usage { calls, cost: Cost::from_micro_dollars(u64::from(calls) * 10_000), ..Usage::default() }
}

/// A number of calls with unknown price.
fn unpriced(calls: u32) -> Usage {
    Usage { calls, unpriced_calls: calls, ..Usage::default() }
}

fn firm(waits_for: usize, agent: &Arc<Paid>, journal: Arc<dyn Journal>) -> Run<Firm> {
    timed(Firm { hire: MapNode(Hire(waits_for)), sign: LLMNode(Sign) })
        .with_agent("clerk", agent.clone())
        .with_journal(journal)
}

/// Asserts that the report, the account, and a repeated report of the run have this usage, and that the agent got so many calls.
async fn assert_usage(usage: Usage, report: Report<Vec<u64>>, agent: &Arc<Paid>, journal: &Arc<MemoryJournal>) {
    assert_eq!(report.usage(), usage, "the report");
    assert_eq!(account(&**journal, &report.run).await.unwrap().total, usage, "the account");
    let again = firm(0, agent, journal.clone()).resume().await.unwrap();
    assert_eq!(again.usage(), usage, "the report once more");
    assert_eq!(agent.calls.load(Ordering::SeqCst), usage.calls, "the agent");
}

#[tokio::test(start_paused = true)]
async fn the_bill_of_a_run_has_its_childrens_calls() {
    let (agent, journal, log) = (Arc::<Paid>::default(), Arc::<MemoryJournal>::default(), Log::new());
    let run = firm(2, &agent, journal.clone()).with_events(log.sink());
    let report = run.start(vec![1, 2]).await.unwrap();
    let ended: Vec<u32> = log
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::RunEnded { usage, .. } => Some(usage.calls),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [1, 1, 3], "each child's own, then that of all");
    let roles: Vec<_> = report.ledger.entries().iter().map(|call| call.session.as_ref().unwrap().as_str()).collect();
    assert_eq!(roles, ["s-0", "s-1", "s-2"], "in the order in which they ended");
    assert_usage(cents(3), report, &agent, &journal).await;

    // Without a journal too.
    let agent = Arc::<Paid>::default();
    let report = firm(2, &agent, journal).without_journal().start(vec![1, 2]).await.unwrap();
    assert_eq!(report.usage(), cents(3));
}

/// A child that is stopped with its map node has made a call with an unknown price.
#[tokio::test(start_paused = true)]
async fn children_that_are_left_behind_are_on_the_bill() {
    let (agent, journal) = (Arc::<Paid>::default(), Arc::<MemoryJournal>::default());
    let report = firm(1, &agent, journal.clone()).start(vec![1, 60]).await.unwrap();
    assert_eq!(report.took.as_millis(), 2_000, "nobody waits for it");
    let runs = journal.runs().await.unwrap();
    let ended: Vec<_> = runs.iter().map(|run| run.ended.as_deref().unwrap()).collect();
    assert_eq!(ended.iter().filter(|ended| **ended == "cancelled").count(), 1, "{ended:?}");
    let usage = cents(2) + unpriced(1);
    assert_usage(usage, report, &agent, &journal).await;
}

/// The turns of a killed process were calls: they are in the account before the run is resumed, and on the bill after it.
#[tokio::test(start_paused = true)]
async fn turns_that_were_killed_are_on_the_bill() {
    let (agent, journal) = (Arc::<Paid>::default(), Arc::<MemoryJournal>::default());
    let killed = firm(2, &agent, journal.clone()).start(vec![1, 3]);
    assert!(tokio::time::timeout(Duration::from_millis(1_500), killed).await.is_err());
    // In the meantime dropped tasks are cleaned up.
    pass(1).await;
    let root = "run".parse().unwrap();
    let total = account(&*journal, &root).await.unwrap().total;
    assert_eq!(total, cents(1) + unpriced(1), "one was done, and one under way");

    // One more call is not enough: the clerk is asked again, and no call is left to sign.
    let budgets = |calls| {
        let mut budgets = Budgets::unlimited();
        budgets.calls = Some(calls);
        budgets
    };
    let short = firm(2, &agent, journal.clone()).with_budgets(budgets(3)).resume().await.unwrap();
    assert!(matches!(short.outcome, Outcome::BudgetExhausted(_)), "{:?}", short.outcome);
    assert_eq!(short.usage(), cents(2) + unpriced(1));
    let report = firm(2, &agent, journal.clone()).with_budgets(budgets(4)).resume().await.unwrap();
    assert_usage(cents(3) + unpriced(1), report, &agent, &journal).await;
}

/// A turn that is interrupted when its run is suspended is recorded; otherwise the run's journal has failed.
#[tokio::test(start_paused = true)]
async fn what_a_suspended_run_cannot_record_is_an_error_of_its_journal() {
    for refuses in [false, true] {
        let agent = Arc::<Paid>::default();
        let journal = Arc::<Faltering>::default();
        let journal = journal.has_no_room(move |record| refuses && matches!(record.entry, Entry::Spent { .. }));
        let cancel = CancelToken::new();
        let run = firm(1, &agent, journal.clone()).with_cancel(cancel.clone()).start(vec![5]);
        let (report, ()) = tokio::join!(run, async {
            pass(1_000).await;
            cancel.suspend();
        });
        let report = report.unwrap();
        assert_eq!(report.outcome.name(), if refuses { "journal_failed" } else { "suspended" });
        assert_eq!(report.usage(), unpriced(1));
        journal.is_well_again();
        let report = firm(1, &agent, journal).resume().await.unwrap();
        // The cost could not be recorded, but the session that the call had begun proves the call.
        assert_eq!(report.usage(), cents(2) + unpriced(1));
        finished(report);
    }
}

/// A case is closed at once, although an adviser reports three seconds later.
#[derive(Graph)]
#[graph(output = u64)]
struct Case {
    #[node(entry, input = u64, goto(exit), spawn(advise))]
    open: LogicNode<OpenCase>,
    #[node(input = u64, prompt = TaskPrompt, output = bool, agent = "clerk", report = (), reports_to(exit))]
    advise: AdvisoryNode<Advise>,
}

/// Cases, and a judgement on them that takes a second.
#[derive(Graph)]
#[graph(output = u64)]
struct Court {
    #[node(entry, input = Vec<u64>, map = Case, goto(judge))]
    hear: MapNode<Hear>,
    #[node(input = u64, goto(exit))]
    judge: LogicNode<Judge>,
}

logic!(OpenCase(_ill: Arc<AtomicBool>) for case::open, |seconds: u64, cx| {
    cx.spawn::<case::advise>(seconds);
    goto!(cx, case::exit, seconds)
});
struct Advise;
impl AdvisoryHandler<case::advise> for Advise {
    async fn advise(&self, seconds: u64, cx: &mut Cx<'_, case::advise>) -> Result<(), NodeError> {
        cx.converse(TaskPrompt { seconds }, SessionOp::StartFresh(Slug::new("advise")?)).await.map(drop)
    }
}
impl Finish for Case {
    async fn finish(&self, seconds: u64, _: interlocking::graph::ReportsOf<Self>) -> Result<u64, NodeError> {
        if self.open.0.0.load(Ordering::SeqCst) { Err("not signed".into()) } else { Ok(seconds) }
    }
}
struct Hear;
impl MapHandler<court::hear> for Hear {
    fn graph(&self, _: &Cx<'_, court::hear>) -> Result<Arc<Case>, NodeError> {
        Ok(Arc::new(case(&Arc::default())))
    }
    async fn items(&self, cases: &Vec<u64>, _: &mut Cx<'_, court::hear>) -> Result<Vec<Item<Case>>, NodeError> {
        Ok(cases.iter().copied().map(Item::new).collect())
    }
    async fn gather(&self, _: Vec<u64>, cases: Children<Case>, cx: &mut Cx<'_, court::hear>) -> Route<court::hear> {
        let closed: Result<Vec<_>, _> = cases.all().await.into_iter().map(|child| child.result).collect();
        goto!(cx, court::judge, closed?.iter().sum())
    }
}
logic!(Judge(ill: Arc<AtomicBool>) for court::judge, |cases: u64, cx| {
    pass(1_000).await;
    if ill.load(Ordering::SeqCst) { Err("ill".into()) } else { goto!(cx, court::exit, cases) }
});

fn case(ill: &Arc<AtomicBool>) -> Case {
    Case { open: LogicNode(OpenCase(ill.clone())), advise: AdvisoryNode(Advise) }
}

/// A run that goes on while work goes on for a child, after the child's end, waits for that work and has it on its bill.
#[tokio::test(start_paused = true)]
async fn what_was_given_up_at_the_end_of_a_child_is_on_the_bill_of_whoever_goes_on() {
    for fails in [true, false] {
        let (agent, journal, ill) =
            (Arc::<Paid>::default(), Arc::<MemoryJournal>::default(), Arc::<AtomicBool>::default());
        let court = || {
            let run = timed(Court { hear: MapNode(Hear), judge: LogicNode(Judge(ill.clone())) });
            let run = run.with_agent("clerk", agent.clone()).with_journal(journal.clone());
            run.with_report_deadline(Duration::from_millis(200))
        };
        ill.store(fails, Ordering::SeqCst);
        let report = if fails {
            failed(court().start(vec![3, 4]).await.unwrap());
            ill.store(false, Ordering::SeqCst);
            court().retry().await.unwrap()
        } else {
            let dropped = tokio::time::timeout(Duration::from_millis(500), court().start(vec![3, 4])).await;
            assert!(dropped.is_err());
            court().resume().await.unwrap()
        };
        assert_eq!(report.usage(), cents(2), "the report, of a run that failed: {fails}");
        assert_eq!(account(&*journal, &report.run).await.unwrap().total, cents(2), "the account");
        assert_eq!(finished(report), 7);
        pass(10_000).await;
        assert_eq!(court().resume().await.unwrap().usage(), cents(2), "the report once more");
        assert_eq!(agent.calls.load(Ordering::SeqCst), 2, "the agent");
    }
}

/// The same for a run that fails at its exit, after it has given up waiting for its adviser.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_retried_waits_for_what_it_had_given_up() {
    let (agent, journal, ill) = (Arc::<Paid>::default(), Arc::<MemoryJournal>::default(), Arc::<AtomicBool>::default());
    let run = || {
        let run = timed(case(&ill)).with_agent("clerk", agent.clone()).with_journal(journal.clone());
        run.with_report_deadline(Duration::from_millis(200))
    };
    ill.store(true, Ordering::SeqCst);
    let report = run().start(3).await.unwrap();
    assert_eq!(report.took.as_millis(), 200);
    assert_eq!(failed(report).message, "not signed");
    let again = run().resume().await.unwrap();
    assert_eq!(failed(again).message, "not signed", "whoever only asks how it ended is told at once");
    assert_eq!(agent.calls.load(Ordering::SeqCst), 1);
    ill.store(false, Ordering::SeqCst);
    let report = run().retry().await.unwrap();
    assert_eq!(report.usage(), cents(1));
    assert_eq!(finished(report), 3);
}
