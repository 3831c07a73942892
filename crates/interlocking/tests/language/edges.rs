//! Budgets on edges: how often a run may take an edge, and which route it takes after that.

use interlocking::failure::Exhausted;
use interlocking::frontier::Limit;
use interlocking::graph::Graph;
use interlocking::prelude::*;
use interlocking::runtime::clock::TokioClock;
use interlocking::runtime::journal::{Entry, NodeOutcome, Record};
use interlocking::runtime::{Event, EventKind, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often each node will still send the work back to `scaffold`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Plan(BTreeMap<String, u32>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Conflict;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stuck {
    at: String,
    edge: Option<String>,
    limit: Limit,
    plan: Plan,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum End {
    Merged { scaffolds: u32, said: Vec<String> },
    Stuck(Stuck),
}

impl From<Exhausted<Plan>> for Stuck {
    fn from(Exhausted { node, edge, limit, input }: Exhausted<Plan>) -> Self {
        Self { at: node.to_owned(), edge: edge.map(str::to_owned), limit, plan: input }
    }
}

impl From<Exhausted<Plan>> for End {
    fn from(exhausted: Exhausted<Plan>) -> Self {
        Self::Stuck(exhausted.into())
    }
}

/// V3 with the five loops that lead into its scaffold, each with a budget of its own: two with routes, three without (V3-159,
/// CON-145).
#[derive(Graph)]
#[graph(output = End)]
struct Protocol {
    #[node(entry, input = Plan, fork(write_tests, children))]
    scaffold: ForkNode<Scaffold>,
    #[node(input = Plan, goto(barrier), memory(said: Vec<String>),
        goto(scaffold, times = 5, exhausted(stuck, cancels(children, integrate, barrier)), cancels(children, integrate, barrier)))]
    write_tests: LogicNode<WriteTests>,
    #[node(input = Plan, goto(integrate))]
    children: LogicNode<RunChildren>,
    #[node(input = Plan, goto(barrier), goto(scaffold, times = 3, cancels(write_tests, barrier)))]
    integrate: LogicNode<Integrate>,
    #[node(join(write_tests: Plan, integrate: Plan), goto(implement), goto(scaffold, times = 2))]
    barrier: JoinNode<Barrier>,
    #[node(input = Plan, goto(judge))]
    implement: LogicNode<Implement>,
    #[node(input = Plan, goto(land), goto(scaffold, times = 4, exhausted(exit, cancels(*))))]
    judge: LogicNode<Judge>,
    #[node(input = Plan, goto(exit), memory(said: Vec<String>))]
    land: LogicNode<Land>,
    #[node(on(Conflict), resume, goto(scaffold, times = 2, cancels(*)))]
    rebaser: EventNode<Rebaser>,
    #[node(input = Stuck, goto(exit))]
    stuck: LogicNode<GiveUp>,
}

held!(Protocol);

impl Plan {
    fn sends_back(who: &str, times: u32) -> Self {
        Self(BTreeMap::from([(who.to_owned(), times)]))
    }

    /// The remaining plan if `who` sends the work back, or `None` if it does not.
    fn sent_back(&self, who: &str) -> Option<Self> {
        let mut plan = self.clone();
        let left = plan.0.get_mut(who).filter(|left| **left > 0)?;
        *left -= 1;
        Some(plan)
    }
}

async fn pass(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

struct Scaffold;
impl ForkHandler<protocol::scaffold> for Scaffold {
    async fn fork(&self, plan: Plan, cx: &mut Cx<'_, protocol::scaffold>) -> Route<protocol::scaffold> {
        fork!(cx, (plan.clone(), plan))
    }
}

struct WriteTests;
impl LogicHandler<protocol::write_tests> for WriteTests {
    async fn run(&self, plan: Plan, cx: &mut Cx<'_, protocol::write_tests>) -> Route<protocol::write_tests> {
        pass(20).await;
        let visit = cx.visit();
        cx.update_memory(move |said| said.push(format!("tests {visit}")));
        match plan.sent_back("write_tests") {
            Some(plan) => goto!(cx, protocol::scaffold, plan),
            None => goto!(cx, protocol::barrier, plan),
        }
    }
}

struct RunChildren;
impl LogicHandler<protocol::children> for RunChildren {
    async fn run(&self, plan: Plan, cx: &mut Cx<'_, protocol::children>) -> Route<protocol::children> {
        pass(1).await;
        goto!(cx, protocol::integrate, plan)
    }
}

struct Integrate;
impl LogicHandler<protocol::integrate> for Integrate {
    async fn run(&self, plan: Plan, cx: &mut Cx<'_, protocol::integrate>) -> Route<protocol::integrate> {
        match plan.sent_back("integrate") {
            Some(plan) => goto!(cx, protocol::scaffold, plan),
            None => goto!(cx, protocol::barrier, plan),
        }
    }
}

struct Barrier;
impl JoinHandler<protocol::barrier> for Barrier {
    async fn join(&self, (plan, _): (Plan, Plan), cx: &mut Cx<'_, protocol::barrier>) -> Route<protocol::barrier> {
        match plan.sent_back("barrier") {
            Some(plan) => goto!(cx, protocol::scaffold, plan),
            None => goto!(cx, protocol::implement, plan),
        }
    }
}

struct Implement;
impl LogicHandler<protocol::implement> for Implement {
    async fn run(&self, plan: Plan, cx: &mut Cx<'_, protocol::implement>) -> Route<protocol::implement> {
        if plan.0.get("rebaser").is_some_and(|left| *left > 0) {
            let own = cx.run_id().clone();
            cx.send::<protocol::rebaser>(&own, &Conflict)?;
        }
        goto!(cx, protocol::judge, plan)
    }
}

struct Judge;
impl LogicHandler<protocol::judge> for Judge {
    async fn run(&self, plan: Plan, cx: &mut Cx<'_, protocol::judge>) -> Route<protocol::judge> {
        pass(5).await;
        match plan.sent_back("judge") {
            Some(plan) => goto!(cx, protocol::scaffold, plan),
            None => goto!(cx, protocol::land, plan),
        }
    }
}

struct Land;
impl LogicHandler<protocol::land> for Land {
    async fn run(&self, _: Plan, cx: &mut Cx<'_, protocol::land>) -> Route<protocol::land> {
        let said = cx.memory();
        goto!(cx, protocol::exit, End::Merged { scaffolds: said.len() as u32, said })
    }
}

struct Rebaser;
impl EventHandler<protocol::rebaser> for Rebaser {
    async fn handle(&self, _: Conflict, cx: &mut Cx<'_, protocol::rebaser>) -> Route<protocol::rebaser> {
        let plan: Plan = cx.input_of::<protocol::implement>()?;
        match plan.sent_back("rebaser") {
            Some(plan) => goto!(cx, protocol::scaffold, plan),
            None => cx.resume(),
        }
    }
}

struct GiveUp;
impl LogicHandler<protocol::stuck> for GiveUp {
    async fn run(&self, stuck: Stuck, cx: &mut Cx<'_, protocol::stuck>) -> Route<protocol::stuck> {
        goto!(cx, protocol::exit, End::Stuck(stuck))
    }
}

fn protocol() -> Run<Protocol> {
    let graph = Protocol {
        scaffold: ForkNode(Scaffold),
        write_tests: LogicNode(WriteTests),
        children: LogicNode(RunChildren),
        integrate: LogicNode(Integrate),
        barrier: JoinNode(Barrier),
        implement: LogicNode(Implement),
        judge: LogicNode(Judge),
        land: LogicNode(Land),
        rebaser: EventNode(Rebaser),
        stuck: LogicNode(GiveUp),
    };
    Run::new(graph).with_clock(Arc::new(TokioClock::start())).with_id(id())
}

fn id() -> RunId {
    "v3".parse().unwrap()
}

async fn outcome(plan: Plan) -> Outcome<End> {
    protocol().start(plan).await.unwrap().outcome
}

#[track_caller]
fn finished(outcome: Outcome<End>) -> End {
    match outcome {
        Outcome::Finished(end) => end,
        other => panic!("not finished: {other:?}"),
    }
}

#[track_caller]
fn failed(outcome: Outcome<End>) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("not failed: {other:?}"),
    }
}

const LOOPS: [(&str, u32); 5] = [("write_tests", 5), ("integrate", 3), ("barrier", 2), ("judge", 4), ("rebaser", 2)];

/// V3-159, CON-145: a budget per edge.
#[tokio::test(start_paused = true)]
async fn each_of_five_loops_into_one_node_may_be_taken_as_often_as_its_own_edge_says() {
    for (who, times) in LOOPS {
        let end = finished(outcome(Plan::sends_back(who, times)).await);
        assert!(matches!(end, End::Merged { .. }), "{who}: {end:?}");
    }
    // Four of them in one run: `scaffold` is entered fifteen times, and no edge is taken more often than it may be.
    let all = Plan(LOOPS[..4].iter().map(|(who, times)| ((*who).to_owned(), *times)).collect());
    let report = protocol().start(all).await.unwrap();
    assert!(report.visits.contains(&("scaffold", 1 + 5 + 3 + 2 + 4)), "{:?}", report.visits);
    assert!(matches!(finished(report.outcome), End::Merged { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_exhausted_takes_the_route_of_its_own_edge() {
    let end = finished(outcome(Plan::sends_back("write_tests", 9)).await);
    let plan = Plan::sends_back("write_tests", 3);
    let stuck = |at: &str, times, plan| {
        End::Stuck(Stuck { at: at.to_owned(), edge: Some("scaffold".to_owned()), limit: Limit::Times(times), plan })
    };
    assert_eq!(end, stuck("write_tests", 5, plan), "the sixth time, with what `scaffold` would have got");
    let end = finished(outcome(Plan::sends_back("judge", 5)).await);
    assert_eq!(end, stuck("judge", 4, Plan::sends_back("judge", 0)), "straight to the exit");
}

/// V3-159: Stuck with the loop named.
#[tokio::test(start_paused = true)]
async fn a_loop_that_is_exhausted_without_a_route_fails_the_run_by_its_name() {
    let failure = failed(outcome(Plan::sends_back("integrate", 4)).await);
    assert_eq!(
        failure.to_string(),
        "node `integrate` (visit 4) may not go to `scaffold` again: its table says `times = 3` for that edge, of the loop \
         integrate → scaffold → children → integrate"
    );
    let cycle = ["integrate", "scaffold", "children", "integrate"].map(str::to_owned).into();
    assert_eq!(failure.kind, FailureKind::EdgeExhausted { to: "scaffold".to_owned(), times: 3, cycle });

    let failure = failed(outcome(Plan::sends_back("barrier", 3)).await);
    let of_loop = |failure: &Failure| failure.message.split_once("of the loop ").unwrap().1.to_owned();
    assert_eq!(of_loop(&failure), "barrier → scaffold → write_tests → barrier");
    let failure = failed(outcome(Plan::sends_back("rebaser", 3)).await);
    assert_eq!((failure.node.as_str(), failure.visit), ("rebaser", 3));
    assert_eq!(of_loop(&failure), "rebaser → scaffold → rebaser", "a message takes the run from anywhere");
}

#[tokio::test(start_paused = true)]
async fn whoever_watches_is_told_which_edge_is_spent() {
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let heard = events.clone();
    let run = protocol().with_events(Arc::new(move |event| heard.lock().unwrap().push(event)));
    run.start(Plan::sends_back("judge", 9)).await.unwrap();
    let events = events.lock().unwrap();
    let spent: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::EdgeExhausted { node, edge, .. } => Some((node.node.as_ref(), node.visit, edge.as_ref())),
            _ => None,
        })
        .collect();
    assert_eq!(spent, [("judge", 5, "scaffold")]);
    let last = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::NodeFinished { node, to, .. } => Some((node.node.as_ref(), format!("{to:?}"))),
        _ => None,
    });
    assert_eq!(last, Some(("judge", "One(\"exit\")".to_owned())), "the way that it took, not the one that it chose");
}

async fn recorded(plan: Plan) -> (Vec<Record>, Outcome<End>) {
    let journal = Arc::new(MemoryJournal::new());
    let report = protocol().with_journal(journal.clone()).start(plan).await.unwrap();
    (journal.records(&id()), report.outcome)
}

fn outcomes(records: &[Record]) -> impl Iterator<Item = &NodeOutcome> {
    records.iter().filter_map(|record| match &record.entry {
        Entry::Outcome(outcome) => Some(outcome),
        _ => None,
    })
}

#[tokio::test(start_paused = true)]
async fn the_record_is_the_alternative_that_was_taken_and_what_the_handler_did_beside_it_counts() {
    let (records, _) = recorded(Plan::sends_back("write_tests", 6)).await;
    let last = outcomes(&records).filter(|outcome| outcome.node == "write_tests").last().unwrap();
    let net = Protocol::net();
    let taken = net.alternative(last.alternative.unwrap()).unwrap();
    assert_eq!(
        taken.instead_of.map(|edge| net.place(net.alternative(edge).unwrap().only[0]).name.as_str()),
        Some("scaffold")
    );
    assert_eq!(last.tokens[0].place, "stuck");
    assert_eq!(last.memory.as_ref().unwrap().group, "said", "it has run, and its memory is as it left it");
    let (records, outcome) = recorded(Plan::sends_back("integrate", 4)).await;
    failed(outcome);
    assert_eq!(
        outcomes(&records).filter(|outcome| outcome.node == "integrate").count(),
        3,
        "the fourth has no outcome"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_resumed_anywhere_has_taken_its_edges_as_often() {
    for (who, times) in [("write_tests", 6), ("integrate", 4), ("judge", 5), ("rebaser", 3), ("rebaser", 2)] {
        let journal = Arc::new(MemoryJournal::new());
        let whole = protocol().with_journal(journal.clone()).start(Plan::sends_back(who, times)).await.unwrap().outcome;
        let (records, letters) = (journal.records(&id()), journal.letters(&id(), 0).await.unwrap());
        // A letter that has not been received is in no record.
        let is_on_its_way = |records: &[Record]| {
            let received = records.iter().filter(|record| matches!(record.entry, Entry::Received { .. })).count();
            outcomes(records).filter(|outcome| !outcome.posted.is_empty()).count() > received
        };
        for count in (1..=records.len()).filter(|&count| !is_on_its_way(&records[..count])) {
            let journal = Arc::new(MemoryJournal::new());
            for record in records.iter().take(count) {
                journal.append(record.clone()).await.unwrap();
            }
            // The received letters, with the keys that prevent a second delivery.
            let received = records[..count].iter().filter(|record| matches!(record.entry, Entry::Received { .. }));
            for posted in letters.iter().take(received.count()) {
                journal.post(&id(), posted.letter.clone()).await.unwrap();
            }
            let report = protocol().with_journal(journal).resume().await.unwrap();
            assert_eq!(report.outcome, whole, "{who} after {count} records of {}", records.len());
        }
    }
}

/// The handlers of a loop whose graph is defined beside it.
macro_rules! looping {
    () => {
        pub(super) struct Work;
        impl LogicHandler<again::work> for Work {
            async fn run(&self, number: u32, cx: &mut Cx<'_, again::work>) -> Route<again::work> {
                goto!(cx, again::judge, number + 1)
            }
        }

        pub(super) struct Judge;
        impl LogicHandler<again::judge> for Judge {
            async fn run(&self, number: u32, cx: &mut Cx<'_, again::judge>) -> Route<again::judge> {
                if number < 5 { goto!(cx, again::work, number) } else { goto!(cx, again::exit, number) }
            }
        }

        pub(super) fn run(journal: &Arc<MemoryJournal>) -> Run<Again> {
            let graph = Again { work: LogicNode(Work), judge: LogicNode(Judge) };
            Run::new(graph).with_id("again".parse().unwrap()).with_journal(journal.clone())
        }
    };
}

mod twice {
    use super::*;

    #[derive(Graph)]
    #[graph(output = u32)]
    pub(super) struct Again {
        #[node(entry, input = u32, goto(judge))]
        work: LogicNode<Work>,
        #[node(input = u32, goto(exit), goto(work, times = 2))]
        judge: LogicNode<Judge>,
    }
    held!(Again);
    looping!();
}

mod four_times {
    use super::*;

    #[derive(Graph)]
    #[graph(output = u32)]
    pub(super) struct Again {
        #[node(entry, input = u32, goto(judge))]
        work: LogicNode<Work>,
        #[node(input = u32, goto(exit), goto(work, times = 4))]
        judge: LogicNode<Judge>,
    }
    held!(Again);
    looping!();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_failed_at_an_edge_goes_on_once_its_budget_is_raised() {
    let journal = Arc::new(MemoryJournal::new());
    let report = twice::run(&journal).start(0).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Failed(_)), "{report:?}");
    let refused = four_times::run(&journal).retry().await.unwrap_err().to_string();
    assert!(refused.contains("`goto` was `exit`, `work, times = 2` and is `exit`, `work, times = 4`"), "{refused}");
    let raised = four_times::run(&journal).with_migration(|_, records| Ok(records));
    assert_eq!(raised.retry().await.unwrap().outcome, Outcome::Finished(5), "two more times, not four");
    let entries = journal.records(&"again".parse().unwrap());
    assert_eq!(outcomes(&entries).filter(|outcome| outcome.node == "work").count(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_taken_an_edge_more_often_than_the_new_table_allows_is_not_resumed() {
    let whole = Arc::new(MemoryJournal::new());
    four_times::run(&whole).start(0).await.unwrap();
    let journal = Arc::new(MemoryJournal::new());
    for record in whole.records(&"again".parse().unwrap()).into_iter().take(7) {
        journal.append(record).await.unwrap();
    }
    let lowered = twice::run(&journal).with_migration(|_, records| Ok(records));
    let refused = lowered.resume().await.unwrap_err().to_string();
    assert!(
        refused.contains("`judge` went to `work` more often than that edge allows: its table says `times = 2`"),
        "{refused}"
    );
}
