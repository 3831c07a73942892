//! Routes: one executor follows the choices of the handlers of any graph.

use crate::support::{both_ways, finished};
use interlocking::graph::Graph;
use interlocking::prelude::*;
use std::sync::Arc;

#[derive(Graph)]
#[graph(output = String)]
struct Countdown {
    #[node(entry, input = u32, goto(down, up), visits = 10)]
    down: LogicNode<Down>,
    #[node(input = u32, goto(down, exit), visits = 10)]
    up: LogicNode<Up>,
}

logic!(Down for countdown::down, |number: u32, cx| match number {
    0 => goto!(cx, countdown::up, 0),
    _ => goto!(cx, self, number - 1),
});
logic!(Up for countdown::up, |number: u32, cx| match cx.visit() {
    3 => goto!(cx, countdown::exit, format!("{} down", number)),
    _ => goto!(cx, countdown::down, 1),
});

#[derive(Graph)]
#[graph(output = u64)]
struct Squares {
    #[node(entry, input = u64, fork(left, right))]
    split: ForkNode<Split>,
    #[node(input = u64, goto(sum))]
    left: LogicNode<Left>,
    #[node(input = u64, fork(low, high), goto(sum))]
    right: LogicNode<Right>,
    #[node(input = u64, goto(product))]
    low: LogicNode<Low>,
    #[node(input = u64, goto(product))]
    high: LogicNode<High>,
    #[node(join(low: u64, high: u64), goto(sum))]
    product: JoinNode<Product>,
    #[node(join(left: u64, right: u64 from(right, product)), goto(exit))]
    sum: JoinNode<Sum>,
}

held!(Countdown, Squares);

forks!(Split for squares::split, |number: u64, cx| fork!(cx, (number, number + 1)));
logic!(Left for squares::left, |number: u64, cx| goto!(cx, squares::sum, number * number));
// A logic node that may go one way or fork.
logic!(Right for squares::right, |number: u64, cx| match number {
    0..10 => goto!(cx, squares::sum, number * number),
    _ => fork!(cx, (number - 1, number + 1)),
});
logic!(Low for squares::low, |number: u64, cx| goto!(cx, squares::product, number));
logic!(High for squares::high, |number: u64, cx| goto!(cx, squares::product, number));
joins!(Product for squares::product, |(low, high): (u64, u64), cx| goto!(cx, squares::sum, low * high + 1));
joins!(Sum for squares::sum, |(left, right): (u64, u64), cx| goto!(cx, squares::exit, left + right));

fn count_down() -> Countdown {
    Countdown { down: LogicNode(Down), up: LogicNode(Up) }
}

fn squares() -> Squares {
    Squares {
        split: ForkNode(Split),
        left: LogicNode(Left),
        right: LogicNode(Right),
        low: LogicNode(Low),
        high: LogicNode(High),
        product: JoinNode(Product),
        sum: JoinNode(Sum),
    }
}

/// Runs any graph to its output.
async fn output<G: Graph>(run: Run<G>, entry: G::Entry) -> G::Output
where
    G::Output: std::fmt::Debug,
{
    finished(run.start(entry).await.unwrap())
}

/// PRG-41: the executor follows the handlers' choices until the exit, for any graph. PRG-20: a
/// named node, the node itself, the exit, and several at once.
#[tokio::test(start_paused = true)]
async fn one_executor_runs_any_graph() {
    for run in both_ways(count_down) {
        assert_eq!(output(run, 4).await, "0 down");
    }
    for run in both_ways(squares) {
        assert_eq!(output(run, 3).await, 9 + 16);
    }
    for run in both_ways(squares) {
        assert_eq!(output(run, 9).await, 81 + 9 * 11 + 1, "by the second fork and its join");
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_counts_the_entries_of_each_node() {
    for run in both_ways(count_down) {
        let report = run.start(1).await.unwrap();
        assert_eq!(report.visits, [("down", 6), ("up", 3)]);
        assert_eq!((report.visits_of("down"), report.visits_of("elsewhere")), (6, 0));
    }
    for run in both_ways(squares) {
        let report = run.start(1).await.unwrap();
        assert_eq!(report.visits, [("split", 1), ("left", 1), ("right", 1), ("sum", 1)], "what never ran is left out");
    }
}

/// A graph is shared, so one value can run many times, also concurrently; each run is independent.
#[tokio::test]
async fn one_graph_value_serves_many_runs() {
    let graph = Arc::new(squares());
    let runs: Vec<_> = (0..20).map(|number| tokio::spawn(output(Run::from_arc(graph.clone()), number))).collect();
    for (number, run) in (0..).zip(runs) {
        assert_eq!(run.await.unwrap(), number * number + (number + 1) * (number + 1));
    }
}
