//! A thousand branches on several threads, which are handed over many at a time: they must be tasks like any others.

use interlocking::context::Entered;
use interlocking::failure::{FailureKind, NodeError};
use interlocking::frontier::{Limit, Payload};
use interlocking::graph::{Done, Graph, MemoryVisitor, Token};
use interlocking::net::Net;
use interlocking::route::Step;
use interlocking::run_id::RunId;
use interlocking::runtime::journal::{Entry, Letter, LetterBody};
use interlocking::runtime::{CancelToken, Journal, MemoryJournal, Outcome, Run};
use interlocking::table::{NodeKind, NodeRow, Table, Visits};
use interlocking_bench::fan::{BRANCHES, Fan, Rounds, Spot, graph, join_set};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::time::Duration;

/// What every branch does.
enum Deed {
    /// Blocks its thread until another branch is there.
    Meet(Barrier),
    /// Waits for ever, but for the last branch, which fails.
    Fail,
    /// Waits for ever, and the last one asks for the stop.
    Cancel(CancelToken),
    /// Goes on, to a second round.
    GoRound,
}

/// The benchmark's graph, with branches that do something.
struct Doing {
    deed: Deed,
    /// How many branches began and have not ended.
    under_way: Arc<AtomicU32>,
}

/// A branch that has begun.
struct Begun(Arc<AtomicU32>);

impl Doing {
    fn new(deed: Deed) -> (Self, Arc<AtomicU32>) {
        let under_way = Arc::new(AtomicU32::new(0));
        (Self { deed, under_way: under_way.clone() }, under_way)
    }

    async fn branch(&self, branch: u16) -> Result<(), NodeError> {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let _begun = Begun(self.under_way.clone());
        let last = branch + 1 == BRANCHES;
        match &self.deed {
            Deed::Meet(barrier) => {
                barrier.wait();
            }
            Deed::Fail if last => return Err("the last one fails".into()),
            Deed::Fail => pending().await,
            Deed::Cancel(cancel) => {
                if last {
                    cancel.cancel();
                }
                pending().await
            }
            Deed::GoRound => {}
        }
        Ok(())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Graph for Doing {
    type Entry = Rounds;
    type Output = u64;
    type Token = Spot;
    const NODES: usize = Fan::NODES;
    const EDGES: usize = Fan::EDGES;
    const MAY_BE_CHAIN: bool = true;

    /// The benchmark's, but the last branch may be entered once.
    fn net() -> &'static Net {
        static NET: OnceLock<Net> = OnceLock::new();
        NET.get_or_init(|| {
            let mut table = Fan::net().table().clone();
            let last = table.nodes.iter_mut().find(|row| row.name == "b999").expect("it is there");
            last.visits = Some(Visits::AtMost(1));
            Net::new(table).expect("the table is a net")
        })
    }

    fn enter(entry: Rounds) -> Spot {
        Fan::enter(entry)
    }

    fn leave(token: Spot) -> Option<u64> {
        Fan::leave(token)
    }

    fn join(node: u16, slots: Vec<Spot>) -> Option<Spot> {
        Fan::join(node, slots)
    }

    fn exhausted(_: u16, _: Limit, _: Spot) -> Option<Step<Spot>> {
        None
    }

    async fn step(&self, input: Spot, _: Entered<'_, Self>) -> Done<Self> {
        let route = match input {
            Spot::Start(state) => Ok(Step::All(0, (0..BRANCHES).map(|branch| Spot::Branch(branch, state)).collect())),
            Spot::Branch(branch, state) => {
                self.branch(branch).await.map(|()| Step::One(1 + branch, Spot::Slot(branch, state)))
            }
            Spot::Full(_) if matches!(self.deed, Deed::GoRound) => Ok(Step::One(1 + BRANCHES, Spot::Start((1, 0)))),
            Spot::Full(values) => Ok(Step::One(2 + BRANCHES, Spot::Exit(values.len() as u64))),
            Spot::Slot(..) | Spot::Exit(_) => return Done::misplaced(),
        };
        Done { route, effects: Default::default() }
    }

    fn visit_memory<V: MemoryVisitor>(_: u16, _: V) -> Option<V::Output> {
        None
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_executor_and_a_join_set_come_to_the_same() {
    assert_eq!(graph(3).await, join_set(3).await);
}

/// Two threads of the runtime: at any time both must find a branch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_branches_that_block_a_thread_run_in_parallel() {
    let (graph, under_way) = Doing::new(Deed::Meet(Barrier::new(2)));
    let report = Run::new(graph).without_journal().start((1, 0)).await.unwrap();
    assert_eq!(report.outcome.finished(), Some(u64::from(BRANCHES)));
    assert_eq!(under_way.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_failure_of_one_of_many_stops_the_others() {
    let (graph, under_way) = Doing::new(Deed::Fail);
    let report = Run::new(graph).start((1, 0)).await.unwrap();
    let Outcome::Failed(failure) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((&*failure.node, &*failure.message), ("b999", "the last one fails"));
    assert_eq!(under_way.load(Ordering::SeqCst), 0, "all have been dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_branches_are_cancelled_with_their_run() {
    let cancel = CancelToken::new();
    let (graph, under_way) = Doing::new(Deed::Cancel(cancel.clone()));
    let report = Run::new(graph).with_cancel(cancel).start((1, 0)).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Cancelled), "{:?}", report.outcome);
    assert_eq!(under_way.load(Ordering::SeqCst), 0, "all have been dropped");
}

/// The last branch fails before it starts, while the executor still holds some of the others back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_that_may_not_start_ends_the_run_and_those_that_have_not_started_either() {
    let (graph, under_way) = Doing::new(Deed::GoRound);
    let report = Run::new(graph).without_journal().start((1, 0)).await.unwrap();
    let Outcome::Failed(failure) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((&*failure.node, failure.visit), ("b999", 2));
    assert!(matches!(failure.kind, FailureKind::Exhausted(Limit::Visits(1))), "{:?}", failure.kind);
    assert_eq!(under_way.load(Ordering::SeqCst), 0, "all have been dropped");
}

/// One branch more than are handed over together.
const FEW: u16 = 33;
const TOLD: u16 = 1 + 2 * FEW;

/// `fan` forks to a few branches that wait, `meet` joins them, and `told` takes messages.
#[derive(Default)]
struct Waiting {
    begun: AtomicU32,
    may_end: AtomicBool,
    is_told: AtomicBool,
}

/// A number in a place.
#[derive(Debug)]
struct At(u16, u64);

impl Graph for Waiting {
    type Entry = u64;
    type Output = u64;
    type Token = At;
    const NODES: usize = 3 + FEW as usize;
    const EDGES: usize = 1 + 2 * FEW as usize;
    const MAY_BE_CHAIN: bool = true;

    fn net() -> &'static Net {
        static NET: OnceLock<Net> = OnceLock::new();
        NET.get_or_init(|| {
            let names: Vec<String> = (0..FEW).map(|branch| format!("b{branch}")).collect();
            let branches: Vec<&str> = names.iter().map(String::as_str).collect();
            let fan = NodeRow::new("fan", NodeKind::Fork).entry().input("u64").fork(&branches, &[]);
            let mut table = Table::new("Waiting", "u64").with(fan);
            let mut meet = NodeRow::new("meet", NodeKind::Join).goto("exit", &[]);
            for name in branches {
                table = table.with(NodeRow::new(name, NodeKind::Logic).input("u64").goto("meet", &[]));
                meet = meet.slot(name, "u64", &[name], false);
            }
            let told = NodeRow::new("told", NodeKind::Event).input("u64").resume();
            Net::new(table.with(meet).with(told)).expect("the table is a net")
        })
    }

    fn enter(entry: u64) -> At {
        At(0, entry)
    }

    fn leave(At(place, number): At) -> Option<u64> {
        (place == TOLD + 1).then_some(number)
    }

    fn join(_: u16, slots: Vec<At>) -> Option<At> {
        Some(At(u16::MAX, slots.len() as u64))
    }

    fn exhausted(_: u16, _: Limit, _: At) -> Option<Step<At>> {
        None
    }

    async fn step(&self, At(place, number): At, _: Entered<'_, Self>) -> Done<Self> {
        let step = match place {
            0 => Step::All(0, (1..=FEW).map(|branch| At(branch, number)).collect()),
            1..=FEW => {
                self.begun.fetch_add(1, Ordering::SeqCst);
                until(|| self.may_end.load(Ordering::SeqCst)).await;
                Step::One(place, At(FEW + place, number))
            }
            TOLD => {
                self.is_told.store(true, Ordering::SeqCst);
                Step::Stay
            }
            _ => Step::One(1 + FEW, At(TOLD + 1, number)),
        };
        Done { route: Ok(step), effects: Default::default() }
    }

    fn visit_memory<V: MemoryVisitor>(_: u16, _: V) -> Option<V::Output> {
        None
    }
}

impl Payload for At {
    fn place(&self) -> u16 {
        self.0
    }

    fn copy(&self) -> Option<Self> {
        None
    }
}

impl Token for At {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.1.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(place: u16, deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer).map(|number| Self(place, number))
    }
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The node that takes a message is no part of a batch: it starts at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_while_many_branches_run_is_handled_after_them() {
    let (graph, journal, id) = (Arc::new(Waiting::default()), Arc::new(MemoryJournal::new()), RunId::DEFAULT);
    let run = Run::from_arc(graph.clone()).with_journal(journal.clone());
    let running = tokio::time::timeout(Duration::from_secs(20), run.start(1));
    let (report, ()) = tokio::join!(running, async {
        until(|| graph.begun.load(Ordering::SeqCst) == u32::from(FEW)).await;
        let body = LetterBody::Message { node: "told".to_owned(), message: "5".into() };
        journal.post(&id, Letter { key: None, body }).await.unwrap();
        until(|| journal.records(&id).iter().any(|it| matches!(it.entry, Entry::Received { .. }))).await;
        graph.may_end.store(true, Ordering::SeqCst);
    });
    assert_eq!(report.expect("it goes on").unwrap().outcome.finished(), Some(u64::from(FEW)));
    assert!(graph.is_told.load(Ordering::SeqCst));
}
