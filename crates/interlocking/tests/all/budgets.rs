//! Budgets of a run and its child runs: which calls are refused, what is finished first, and what is
//! reported.

mod counted;

use crate::support::{Log, Recording, both_ways, failed, finished, pass, timed};
use askama::Template;
use async_trait::async_trait;
use interlocking::agents::{Agent, AgentError, Cost, Reply as AgentReply, Sessions, Turn, TurnContext, Usage};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::journal::fork::{ForkPoint, fork};
use interlocking::runtime::{
    Allowance, Backoff, BudgetExceeded, Budgets, CancelToken, Journal, MemoryJournal, StartError,
};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

#[derive(Template)]
#[template(source = "Call {{ number }}.", ext = "txt")]
struct CallPrompt {
    number: u32,
}

/// Makes the given number of calls, one after the other.
#[derive(Graph)]
#[graph(output = u32)]
struct Caller {
    #[node(entry, input = (u32, u32), prompt = CallPrompt, output = bool, agent = "caller", goto(call, exit), visits = 99)]
    call: LLMNode<Call>,
}

held!(Caller, Pair, Parent);

struct Call;
impl LLMHandler<caller::call> for Call {
    async fn before<'a>(&'a self, input: &'a (u32, u32), _: &mut Cx<'_, caller::call>) -> Ask<CallPrompt> {
        Ok((CallPrompt { number: input.0 }, SessionOp::StartFresh(Slug::new("call")?)))
    }
    async fn after(
        &self,
        (done, all): (u32, u32),
        _: Reply<bool>,
        cx: &mut Cx<'_, caller::call>,
    ) -> Route<caller::call> {
        if done + 1 == all { goto!(cx, caller::exit, all) } else { goto!(cx, caller::call, (done + 1, all)) }
    }
}

fn caller() -> Caller {
    Caller { call: LLMNode(Call) }
}

/// Answers every call after a second, for 100 tokens and a quarter of a dollar.
const WILLING: &str = "[[turn]]\ntimes = 'any'\ndelay = '1s'\noutput_json = 'true'\ncost = 0.25\n\
                       tokens = { input = 60, output = 40 }\n";

/// The records of a run, without those of sessions that agents began.
pub(crate) fn entries<O>(journal: &MemoryJournal, report: &Report<O>) -> Vec<Entry> {
    let entries = journal.records(&report.run).into_iter().map(|record| record.entry);
    entries.filter(|entry| !matches!(entry, Entry::Session { .. })).collect()
}

fn used_up<O: std::fmt::Debug>(report: &Report<O>) -> BudgetExceeded {
    match &report.outcome {
        Outcome::BudgetExhausted(used_up) => *used_up,
        other => panic!("not at the end of a budget: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_call_after_the_last_allowed_one_is_not_made() {
    let quarters = |number| Cost::from_micro_dollars(250_000 * number);
    let unlimited = Budgets::unlimited();
    for (budgets, calls, expected) in [
        (unlimited.with_calls(3), 3, BudgetExceeded::Calls { limit: 3, used: 3 }),
        (unlimited.with_calls(0), 0, BudgetExceeded::Calls { limit: 0, used: 0 }),
        (unlimited.with_tokens(200), 2, BudgetExceeded::Tokens { limit: 200, used: 200 }),
        (unlimited.with_tokens(201), 3, BudgetExceeded::Tokens { limit: 201, used: 300 }),
        (unlimited.with_money(quarters(2)), 2, BudgetExceeded::Money { limit: quarters(2), used: quarters(2) }),
    ] {
        for run in both_ways(caller) {
            let (agent, log) = (Recording::new(WILLING), Log::new());
            let run = run.with_agent("caller", agent.clone()).with_budgets(budgets).with_events(log.sink());
            let report = run.start((0, 9)).await.unwrap();
            assert_eq!(used_up(&report), expected);
            assert_eq!(agent.turns().len(), calls);
            assert_eq!(report.usage().calls as usize, calls, "what was refused has cost nothing");
            assert_eq!(report.usage().cost, quarters(calls as u64));
            assert_eq!(report.outcome.name(), "budget_exhausted");
            assert!(log.lines().contains("ended budget_exhausted: "), "{}", log.lines());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_stays_within_its_budgets_notices_nothing() {
    let budgets = Budgets::unlimited().with_calls(3).with_tokens(301).with_wall_time(Duration::from_secs(4));
    for run in both_ways(caller) {
        let run = run.with_agent("caller", Recording::new(WILLING)).with_budgets(budgets.with_concurrency(1));
        assert_eq!(finished(run.start((0, 3)).await.unwrap()), 3);
    }
}

/// Corrections are calls too: a node may reach the end of a budget in the middle of its turn.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_budget_in_the_middle_of_a_turn_is_no_failure() {
    let agent = Recording::new("[[turn]]\ntimes = 'any'\noutput = { wrong = true }\ncost = 0.5\n");
    let journal = Arc::new(MemoryJournal::new());
    let run = timed(caller()).with_agent("caller", agent.clone()).with_journal(journal.clone());
    let report = run.with_budgets(Budgets::unlimited().with_calls(2)).start((0, 1)).await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 2, used: 2 });
    assert_eq!((agent.turns().len(), report.usage().cost.to_string().as_str()), (2, "$1.00"));
    let records = entries(&journal, &report);
    let [started, spent] = &records[..] else { panic!("{records:?}") };
    assert!(matches!(started, Entry::Started { .. }));
    let Entry::Spent { by, calls } = spent else { panic!("{spent:?}") };
    assert_eq!((by.to_string().as_str(), calls[0].usage.calls), ("call.1.1", 2));
}

/// The journal has the calls but not an end of the run, so the run can be resumed.
#[tokio::test(start_paused = true)]
async fn the_journal_has_the_calls_and_no_end() {
    let journal = Arc::new(MemoryJournal::new());
    let run = timed(caller()).with_agent("caller", Recording::new(WILLING)).with_journal(journal.clone());
    let report = run.with_budgets(Budgets::unlimited().with_calls(2)).start((0, 9)).await.unwrap();
    let records = entries(&journal, &report);
    let [started, outcomes @ ..] = &records[..] else { panic!("empty") };
    assert!(matches!(started, Entry::Started { .. }));
    assert_eq!(outcomes.len(), 2);
    for record in outcomes {
        let Entry::Outcome(outcome) = record else { panic!("{record:?}") };
        assert_eq!(outcome.calls[0].usage.calls, 1);
    }
}

/// A fork with a quick branch and a slow one that leads to a Logic node.
#[derive(Graph)]
#[graph(output = u32)]
struct Pair {
    #[node(entry, input = u32, fork(quick, slow))]
    split: ForkNode<Split>,
    #[node(input = u32, prompt = CallPrompt, output = bool, goto(quick, both), visits = 9)]
    quick: LLMNode<Quick>,
    #[node(input = u32, prompt = CallPrompt, output = bool, goto(check))]
    slow: LLMNode<Slow>,
    #[node(input = u32, goto(both))]
    check: LogicNode<Check>,
    #[node(join(quick: u32, slow: u32 from(check)), goto(exit))]
    both: JoinNode<Both>,
}

forks!(Split for pair::split, |calls: u32, cx| fork!(cx, (calls, 100)));
struct Quick;
impl LLMHandler<pair::quick> for Quick {
    async fn before<'a>(&'a self, number: &'a u32, _: &mut Cx<'_, pair::quick>) -> Ask<CallPrompt> {
        Ok((CallPrompt { number: *number }, SessionOp::StartFresh(Slug::new("quick")?)))
    }
    async fn after(&self, left: u32, _: Reply<bool>, cx: &mut Cx<'_, pair::quick>) -> Route<pair::quick> {
        if left == 1 { goto!(cx, pair::both, 0) } else { goto!(cx, pair::quick, left - 1) }
    }
}
struct Slow;
impl LLMHandler<pair::slow> for Slow {
    async fn before<'a>(&'a self, number: &'a u32, _: &mut Cx<'_, pair::slow>) -> Ask<CallPrompt> {
        Ok((CallPrompt { number: *number }, SessionOp::StartFresh(Slug::new("slow")?)))
    }
    async fn after(&self, number: u32, _: Reply<bool>, cx: &mut Cx<'_, pair::slow>) -> Route<pair::slow> {
        goto!(cx, pair::check, number)
    }
}
logic!(Check for pair::check, |number: u32, cx| {
    pass(5_000).await;
    goto!(cx, pair::both, number)
});
joins!(Both for pair::both, |(quick, slow): (u32, u32), cx| goto!(cx, pair::exit, quick + slow));

fn pair() -> Pair {
    Pair {
        split: ForkNode(Split),
        quick: LLMNode(Quick),
        slow: LLMNode(Slow),
        check: LogicNode(Check),
        both: JoinNode(Both),
    }
}

/// Work that was paid for is kept: the other branches go on as far as they can without another call.
#[tokio::test(start_paused = true)]
async fn what_is_under_way_is_finished_first() {
    let script = "[[turn]]\nagent = 'slow'\ndelay = '10s'\noutput_json = 'true'\n\
                  [[turn]]\ntimes = 'any'\ndelay = '1s'\noutput_json = 'true'\n";
    for run in both_ways(pair) {
        let log = Log::new();
        let run = run.with_agent_for_others(Recording::new(script)).with_events(log.sink());
        let report = run.with_budgets(Budgets::unlimited().with_calls(3)).start(9).await.unwrap();
        assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 3, used: 3 });
        assert_eq!(report.took.as_millis(), 15_000, "two quick calls, and after the slow one its check");
        assert_eq!(log.line("finished check 1.1"), "15000 finished check 1.1 to both.slow after 5000");
        assert_eq!(log.line("suspended quick 3.1"), "15000 suspended quick 3.1");
    }
}

/// A refusal has no effect if the run reaches its exit without the refused node, or if its time is over before that.
#[tokio::test(start_paused = true)]
async fn a_run_that_comes_to_its_exit_all_the_same_has_finished() {
    #[derive(Graph)]
    #[graph(output = u32)]
    struct Race {
        #[node(entry, input = u32, fork(ask, wait))]
        split: ForkNode<Start>,
        #[node(input = u32, prompt = CallPrompt, output = bool, goto(exit, cancels(wait)))]
        ask: LLMNode<AskOnce>,
        #[node(input = u32, goto(exit, cancels(ask)))]
        wait: LogicNode<Wait>,
    }
    forks!(Start for race::split, |number: u32, cx| fork!(cx, (number, number)));
    struct AskOnce;
    impl LLMHandler<race::ask> for AskOnce {
        async fn before<'a>(&'a self, number: &'a u32, _: &mut Cx<'_, race::ask>) -> Ask<CallPrompt> {
            Ok((CallPrompt { number: *number }, SessionOp::StartFresh(Slug::new("ask")?)))
        }
        async fn after(&self, number: u32, _: Reply<bool>, cx: &mut Cx<'_, race::ask>) -> Route<race::ask> {
            goto!(cx, race::exit, number)
        }
    }
    logic!(Wait for race::wait, |number: u32, cx| {
        pass(1_000).await;
        goto!(cx, race::exit, number + 1)
    });
    crate::held::is_held::<Race>(module_path!());
    for run in both_ways(|| Race { split: ForkNode(Start), ask: LLMNode(AskOnce), wait: LogicNode(Wait) }) {
        let run = run.with_agent_for_others(Recording::new(WILLING));
        let report = run.with_budgets(Budgets::unlimited().with_calls(0)).start(1).await.unwrap();
        assert_eq!(finished(report), 2);
    }
    let limit = Duration::from_millis(500);
    for run in both_ways(|| Race { split: ForkNode(Start), ask: LLMNode(AskOnce), wait: LogicNode(Wait) }) {
        let budgets = Budgets::unlimited().with_calls(0).with_wall_time(limit);
        let report = run.with_agent_for_others(Recording::new(WILLING)).with_budgets(budgets).start(1).await.unwrap();
        assert_eq!(used_up(&report), BudgetExceeded::WallTime { limit, used: limit });
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_time_is_over_is_stopped_where_it_stands() {
    let limit = Duration::from_millis(2_500);
    for run in both_ways(caller) {
        let run = run.with_agent("caller", Recording::new(WILLING));
        let report = run.with_budgets(Budgets::unlimited().with_wall_time(limit)).start((0, 9)).await.unwrap();
        assert_eq!(used_up(&report), BudgetExceeded::WallTime { limit, used: limit });
        assert_eq!(report.took.as_millis(), 2_500);
        assert_eq!(report.usage().to_string(), "at least $0.50 in 3 calls, 120 tokens in, 80 tokens out");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_cancelled_before_its_time_was_over_is_cancelled() {
    let cancel = CancelToken::new();
    let run = timed(caller()).with_agent("caller", Recording::new(WILLING)).with_cancel(cancel.clone());
    let run = run.with_budgets(Budgets::unlimited().with_wall_time(Duration::from_secs(2)));
    let (report, ()) = tokio::join!(run.start((0, 9)), async {
        pass(1_500).await;
        cancel.cancel();
    });
    assert_eq!(report.unwrap().outcome, Outcome::Cancelled);
    // The end of one run's time does not stop other runs with the same cancel token.
    let cancel = CancelToken::new();
    let run = timed(caller()).with_agent("caller", Recording::new(WILLING)).with_cancel(cancel.clone());
    run.with_budgets(Budgets::unlimited().with_wall_time(Duration::from_secs(2))).start((0, 9)).await.unwrap();
    assert!(!cancel.is_cancelled());
}

/// Records how many calls overlapped.
#[derive(Default)]
struct Crowded {
    sessions: Sessions,
    now: AtomicUsize,
    most: AtomicUsize,
    all: AtomicUsize,
}

#[async_trait]
impl Agent for Crowded {
    fn name(&self) -> &str {
        "crowded"
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    async fn run(&self, context: &TurnContext<'_>, _: &Turn) -> Result<AgentReply, AgentError> {
        let session = SessionId::new(format!("s-{}", self.all.fetch_add(1, Ordering::SeqCst))).unwrap();
        context.started(&session)?;
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        pass(1_000).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        let usage = Usage { calls: 1, output_tokens: 10, ..Usage::default() };
        Ok(AgentReply { output: Some(json!(true)), ..AgentReply::new(session, usage) })
    }
}

/// Starts ten runs at the same time inside a run, each with so many calls.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Parent {
    #[node(entry, input = u32, goto(exit))]
    children: LogicNode<Children>,
}

/// The allowance of the parent, and the agent of the children.
type Family = (Allowance, Arc<Crowded>);

logic!(Children(family: Family) for parent::children, |calls: u32, cx| {
    let (allowance, agent) = family;
    let mut children = JoinSet::new();
    for _ in 0..10 {
        let run = timed(caller()).with_agent("caller", agent.clone()).with_allowance(allowance.child()?);
        children.spawn(run.start((0, calls)));
    }
    let reports = children.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
    if let Some(stopped) = allowance.stopped() {
        return Err(stopped.into());
    }
    goto!(cx, parent::exit, reports.iter().map(|report| report.outcome.name().to_owned()).collect())
});

async fn family(budgets: Budgets, calls: u32) -> (Report<Vec<String>>, Arc<Crowded>) {
    let (agent, allowance) = (Arc::new(Crowded::default()), Allowance::new(budgets, Backoff::default()));
    let graph = Parent { children: LogicNode(Children((allowance.clone(), agent.clone()))) };
    (timed(graph).with_allowance(allowance).start(calls).await.unwrap(), agent)
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_allowed_number_at_once_wait_for_their_turn() {
    let (report, agent) = family(Budgets::unlimited(), 3).await;
    assert_eq!((agent.most.load(Ordering::SeqCst), report.took.as_millis()), (10, 3_000));
    for (concurrency, seconds) in [(3, 10), (1, 30), (0, 30), (100, 3)] {
        let (report, agent) = family(Budgets::unlimited().with_concurrency(concurrency), 3).await;
        assert_eq!(agent.most.load(Ordering::SeqCst), (concurrency as usize).clamp(1, 10), "of the whole tree");
        assert_eq!(report.took.as_millis(), seconds * 1_000, "nobody waits longer than there is need");
        assert_eq!(finished(report), ["finished"; 10]);
    }
}

#[tokio::test(start_paused = true)]
async fn runs_may_be_nested_only_so_deep() {
    let (report, agent) = family(Budgets::unlimited().with_depth(0), 1).await;
    assert_eq!(used_up(&report), BudgetExceeded::Depth { limit: 0, used: 1 });
    assert_eq!(agent.all.load(Ordering::SeqCst), 0);
    let (report, _) = family(Budgets::unlimited().with_depth(1), 1).await;
    assert_eq!(finished(report), ["finished"; 10]);

    let allowance = Allowance::new(Budgets::unlimited().with_depth(2), Backoff::default());
    let grandchild = allowance.child().unwrap().child().unwrap();
    assert_eq!(
        grandchild.child().unwrap_err().to_string(),
        "child runs may be nested 2 deep, and one would have been 3 deep"
    );
    assert!(allowance.stopped().is_some(), "it ends them all");
}

/// Suspends a run in the middle of its second call.
async fn suspended(run: impl AsyncFnOnce(CancelToken) -> Report<u32>) {
    let cancel = CancelToken::new();
    let suspend = async {
        pass(1_500).await;
        cancel.suspend();
    };
    let (report, ()) = tokio::join!(run(cancel.clone()), suspend);
    assert_eq!(report.outcome, Outcome::Suspended);
    assert_eq!(report.usage().calls % 2, 0);
}

/// A handler's own failure is the run's failure, even if a call was refused before.
#[tokio::test(start_paused = true)]
async fn a_failure_is_still_a_failure() {
    #[derive(Graph)]
    #[graph(output = u32)]
    struct Broken {
        #[node(entry, input = u32, goto(exit))]
        only: LogicNode<Fails>,
    }
    logic!(Fails(seen: Mutex<u32>) for broken::only, |number: u32, _| {
        *seen.lock().unwrap() += number;
        Err("broken".into())
    });
    crate::held::is_held::<Broken>(module_path!());
    let run = timed(Broken { only: LogicNode(Fails(Mutex::new(0))) });
    let report = run.with_budgets(Budgets::unlimited().with_calls(0)).start(1).await.unwrap();
    assert_eq!(failed(report).message, "broken");
}
