//! Many runs at once: a graph of five nodes that each wait a millisecond, and the same as bare tokio tasks.

use crate::Ball;
use interlocking::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Five nodes in a row.
#[derive(Graph)]
#[graph(output = Ball)]
pub struct Five {
    #[node(entry, input = Ball, goto(second))]
    first: LogicNode<Wait>,
    #[node(input = Ball, goto(third))]
    second: LogicNode<Wait>,
    #[node(input = Ball, goto(fourth))]
    third: LogicNode<Wait>,
    #[node(input = Ball, goto(fifth))]
    fourth: LogicNode<Wait>,
    #[node(input = Ball, goto(exit))]
    fifth: LogicNode<Wait>,
}

/// Waits, and counts.
#[derive(Clone, Copy)]
pub struct Wait(Duration);

macro_rules! waits {
    ($($node:ident to $next:ident),*) => {
        $(impl LogicHandler<five::$node> for Wait {
            async fn run(&self, mut ball: Ball, cx: &mut Cx<'_, five::$node>) -> Route<five::$node> {
                tokio::time::sleep(self.0).await;
                ball.hits += 1;
                goto!(cx, five::$next, ball)
            }
        })*
    };
}

waits!(first to second, second to third, third to fourth, fourth to fifth, fifth to exit);

/// The graph, in which each node waits for `wait`.
pub fn five(wait: Duration) -> Arc<Five> {
    let node = || LogicNode(Wait(wait));
    Arc::new(Five { first: node(), second: node(), third: node(), fourth: node(), fifth: node() })
}

/// Runs the graph `count` times at once; the runs are created one after the other and then spawned. Returns the sum of
/// their counts.
pub async fn runs(graph: &Arc<Five>, count: u32) -> u64 {
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let run = Run::from_arc(graph.clone()).without_journal().start(Ball::new(5));
        tasks.spawn(async move { run.await.ok().and_then(|report| report.outcome.finished()) });
    }
    sum(tasks).await
}

/// The same, with each run created in its own task, as in a service that answers requests.
pub async fn requests(graph: &Arc<Five>, count: u32) -> u64 {
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let (graph, ball) = (graph.clone(), Ball::new(5));
        tasks.spawn(async move {
            let report = Run::from_arc(graph).without_journal().start(ball).await;
            report.ok().and_then(|report| report.outcome.finished())
        });
    }
    sum(tasks).await
}

async fn sum(mut tasks: JoinSet<Option<Ball>>) -> u64 {
    let mut sum = 0;
    while let Some(counted) = tasks.join_next().await {
        sum += counted.ok().flatten().map_or(0, |ball| ball.hits);
    }
    sum
}

/// The same with bare tokio tasks.
pub async fn tasks(wait: Duration, count: u32) -> u64 {
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        tasks.spawn(five_times(wait, Ball::new(5)));
    }
    let mut sum = 0;
    while let Some(counted) = tasks.join_next().await {
        sum += counted.map_or(0, |ball| ball.hits);
    }
    sum
}

/// Waits five times, and counts.
pub async fn five_times(wait: Duration, mut ball: Ball) -> Ball {
    for _ in 0..5 {
        tokio::time::sleep(wait).await;
        ball.hits += 1;
    }
    ball
}
