//! The graph: two logic nodes that send each other a ball.

use crate::Ball;
use interlocking::prelude::*;

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

/// The graph with its handlers.
pub fn graph() -> PingPong {
    PingPong { ping: LogicNode(Ping), pong: LogicNode(Pong) }
}
