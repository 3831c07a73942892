//! The graph: two logic nodes that send each other a ball.

use crate::Ball;
use interlocking::prelude::*;
use interlocking::runtime::{Cancel, EventSink};
use std::sync::Arc;

/// Two nodes and the exit.
#[derive(Graph)]
#[graph(output = Ball)]
pub struct PingPong {
    /// Hits the ball.
    #[node(entry, input = Ball, goto(pong, exit), visits = unbounded)]
    ping: LogicNode<Ping>,
    /// Hits it back.
    #[node(input = Ball, goto(ping, exit), visits = unbounded)]
    pong: LogicNode<Pong>,
}

/// Handler of `ping`.
pub struct Ping;
/// Handler of `pong`.
pub struct Pong;

impl LogicHandler<ping_pong::ping> for Ping {
    async fn run(&self, mut ball: Ball, cx: &mut Cx<'_, ping_pong::ping>) -> Route<ping_pong::ping> {
        ball.hits += 1;
        if ball.hits >= ball.limit { goto!(cx, ping_pong::exit, ball) } else { goto!(cx, ping_pong::pong, ball) }
    }
}

impl LogicHandler<ping_pong::pong> for Pong {
    async fn run(&self, mut ball: Ball, cx: &mut Cx<'_, ping_pong::pong>) -> Route<ping_pong::pong> {
        ball.hits += 1;
        if ball.hits >= ball.limit { goto!(cx, ping_pong::exit, ball) } else { goto!(cx, ping_pong::ping, ball) }
    }
}

/// Plays `ball` to its limit, with a cancellation flag, a panic guard and an event sink, and no journal behind the hook.
pub async fn play(ball: Ball, cancel: Cancel, sink: Arc<dyn EventSink>) -> Ball {
    let graph = PingPong { ping: LogicNode(Ping), pong: LogicNode(Pong) };
    let run = Run::new(graph).with_cancel(cancel).with_events(sink).without_journal();
    let report = run.start(ball).await.expect("nothing is missing");
    report.outcome.finished().expect("the ball stops at its limit")
}
