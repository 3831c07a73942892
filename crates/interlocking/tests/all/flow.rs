//! No supersteps: a node starts as soon as its input is there, even while other nodes run.

use crate::support::{Log, finished, pass, timed};
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Uneven {
    #[node(entry, input = u64, fork(slow, quick))]
    split: ForkNode<Split>,
    #[node(input = u64, goto(both))]
    slow: LogicNode<Slow>,
    #[node(input = u64, goto(after))]
    quick: LogicNode<Quick>,
    #[node(input = u64, goto(last))]
    after: LogicNode<After>,
    #[node(input = u64, goto(both))]
    last: LogicNode<Last>,
    #[node(join(slow: String, last: String), goto(exit))]
    both: JoinNode<Both>,
}

held!(Uneven);

forks!(Split for uneven::split, |unit: u64, cx| fork!(cx, (unit, unit)));
logic!(Slow for uneven::slow, |unit: u64, cx| {
    pass(10 * unit).await;
    goto!(cx, uneven::both, "slow".into())
});
logic!(Quick for uneven::quick, |unit: u64, cx| {
    pass(unit).await;
    goto!(cx, uneven::after, unit)
});
logic!(After for uneven::after, |unit: u64, cx| goto!(cx, uneven::last, unit));
logic!(Last for uneven::last, |unit: u64, cx| {
    pass(2 * unit).await;
    goto!(cx, uneven::both, "last".into())
});
joins!(Both for uneven::both, |(slow, last): (String, String), cx| goto!(cx, uneven::exit, format!("{slow}, {last}")));

fn uneven() -> Uneven {
    Uneven {
        split: ForkNode(Split),
        slow: LogicNode(Slow),
        quick: LogicNode(Quick),
        after: LogicNode(After),
        last: LogicNode(Last),
        both: JoinNode(Both),
    }
}

#[tokio::test(start_paused = true)]
async fn a_ready_node_waits_for_no_unrelated_branch() {
    let log = Log::new();
    let report = timed(uneven()).with_events(log.sink()).start(10).await.unwrap();
    assert_eq!(report.took.as_millis(), 100, "the longest branch, not the sum of rounds");
    assert_eq!(finished(report), "slow, last");
    // A superstep would have delayed both until 100, when `slow` is done.
    assert_eq!(log.line("started after 1.1"), "10 started after 1.1");
    assert_eq!(log.line("started last 1.1"), "10 started last 1.1");
    assert_eq!(log.line("finished last 1.1"), "30 finished last 1.1 to both.last after 20");
    assert_eq!(log.line("started both 1.1"), "100 started both 1.1");
}

#[tokio::test(start_paused = true)]
async fn branches_run_at_the_same_time() {
    let log = Log::new();
    timed(uneven()).with_events(log.sink()).start(10).await.unwrap();
    assert_eq!(log.line("started slow 1.1"), "0 started slow 1.1");
    assert_eq!(log.line("started quick 1.1"), "0 started quick 1.1");
    assert_eq!(log.line("finished quick 1.1"), "10 finished quick 1.1 to after after 10");
    assert_eq!(log.line("finished slow 1.1"), "100 finished slow 1.1 to both.slow after 100");
}

/// Branches of one run are tasks: on several threads they run in parallel, even if no branch ever yields.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branches_that_block_a_thread_run_in_parallel() {
    #[derive(Graph)]
    #[graph(output = bool)]
    struct Meeting {
        #[node(entry, input = (), fork(here, there))]
        split: ForkNode<Part>,
        #[node(input = (), goto(both))]
        here: LogicNode<Meet>,
        #[node(input = (), goto(both))]
        there: LogicNode<Meet>,
        #[node(join(here: (), there: ()), goto(exit))]
        both: JoinNode<Met>,
    }
    crate::held::is_held::<Meeting>(module_path!());
    forks!(Part for meeting::split, |_: (), cx| fork!(cx, ((), ())));
    joins!(Met for meeting::both, |_: ((), ()), cx| goto!(cx, meeting::exit, true));
    /// Passes only when both branches are there at the same time.
    struct Meet(std::sync::Arc<std::sync::Barrier>);
    impl LogicHandler<meeting::here> for Meet {
        async fn run(&self, (): (), cx: &mut Cx<'_, meeting::here>) -> Route<meeting::here> {
            self.0.wait();
            goto!(cx, meeting::both, ())
        }
    }
    impl LogicHandler<meeting::there> for Meet {
        async fn run(&self, (): (), cx: &mut Cx<'_, meeting::there>) -> Route<meeting::there> {
            self.0.wait();
            goto!(cx, meeting::both, ())
        }
    }
    let barrier = std::sync::Arc::new(std::sync::Barrier::new(2));
    let graph = Meeting {
        split: ForkNode(Part),
        here: LogicNode(Meet(barrier.clone())),
        there: LogicNode(Meet(barrier)),
        both: JoinNode(Met),
    };
    assert!(finished(Run::new(graph).start(()).await.unwrap()));
}
