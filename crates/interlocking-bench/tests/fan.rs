//! A thousand branches on several threads, which are handed over many at a time: they must be tasks like any others.

use interlocking::context::Entered;
use interlocking::failure::{FailureKind, NodeError};
use interlocking::frontier::Limit;
use interlocking::graph::{Done, Graph, MemoryVisitor};
use interlocking::net::Net;
use interlocking::route::Step;
use interlocking::runtime::{CancelToken, Outcome, Run};
use interlocking::table::Visits;
use interlocking_bench::fan::{BRANCHES, Fan, Rounds, Spot, graph, join_set};
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, OnceLock};

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
