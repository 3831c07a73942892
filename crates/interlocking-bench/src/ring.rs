//! Writes the source of [`ring100`](crate::ring100): a graph with a ring of nodes, and the same by hand.

use std::fmt::Write;

/// The source for a ring of `size` nodes.
pub fn source(size: usize) -> String {
    let mut text = String::from(HEADER);
    let next = |node: usize| (node + 1) % size;
    text.push_str("/// A ring of nodes, each of which hits the ball and passes it on.\n");
    text.push_str("#[derive(Default, Graph)]\n#[graph(output = Ball)]\npub struct Ring {\n");
    for node in 0..size {
        let entry = if node == 0 { "entry, " } else { "" };
        let to = next(node);
        line(&mut text, format_args!("    #[node({entry}input = Ball, goto(n{to}, exit), visits = unbounded)]"));
        line(&mut text, format_args!("    n{node}: LogicNode<Pass>,"));
    }
    text.push_str("}\n\nmacro_rules! handlers { ($($node:ident => $next:ident),*) => { $(\n");
    text.push_str("    impl LogicHandler<ring::$node> for Pass {\n");
    text.push_str(
        "        async fn run(&self, mut ball: Ball, cx: &mut Cx<'_, ring::$node>) -> Route<ring::$node> {\n",
    );
    text.push_str("            ball.hits += 1;\n            if ball.hits >= ball.limit {\n");
    text.push_str("                goto!(cx, ring::exit, ball)\n            } else {\n");
    text.push_str(
        "                goto!(cx, ring::$next, ball)\n            }\n        }\n    }\n)* } }\n\nhandlers! {\n",
    );
    for node in 0..size {
        line(&mut text, format_args!("    n{node} => n{},", next(node)));
    }
    text.truncate(text.len() - 2);
    text.push_str("\n}\n\n/// The same ring by hand.\npub enum Ring100 {\n");
    for node in 0..size {
        line(&mut text, format_args!("    /// State {node}.\n    N{node}(Ball),"));
    }
    text.push_str("    /// The end.\n    Exit(Ball),\n}\n\n");
    text.push_str("macro_rules! states { ($($state:ident $node:ident => $next:ident),*) => { $(\n");
    text.push_str("    async fn $node(mut ball: Ball) -> Ring100 {\n        ball.hits += 1;\n");
    text.push_str(
        "        if ball.hits >= ball.limit { Ring100::Exit(ball) } else { Ring100::$next(ball) }\n    }\n)* } }\n\n",
    );
    text.push_str("states! {\n");
    for node in 0..size {
        line(&mut text, format_args!("    N{node} n{node} => N{},", next(node)));
    }
    text.truncate(text.len() - 2);
    let _ = write!(text, "\n}}\n\nimpl State for Ring100 {{\n    const STATES: usize = {size};\n\n");
    text.push_str("    fn start(ball: Ball) -> Self {\n        Self::N0(ball)\n    }\n\n");
    text.push_str("    fn net() -> &'static Net {\n        Ring::net()\n    }\n\n");
    text.push_str("    fn place(&self) -> Option<u16> {\n        match self {\n");
    for node in 0..size {
        line(&mut text, format_args!("            Self::N{node}(_) => Some({node}),"));
    }
    text.push_str("            Self::Exit(_) => None,\n        }\n    }\n\n");
    text.push_str("    fn end(self) -> Option<Ball> {\n");
    text.push_str("        if let Self::Exit(ball) = self { Some(ball) } else { None }\n    }\n\n");
    text.push_str("    async fn step(self) -> Self {\n        match self {\n");
    for node in 0..size {
        line(&mut text, format_args!("            Self::N{node}(ball) => n{node}(ball).await,"));
    }
    text.push_str("            exit @ Self::Exit(_) => exit,\n        }\n    }\n}\n");
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

const HEADER: &str = "\
//! A graph of a hundred nodes in a ring, and the same as a hand-written `match`.
//!
//! Written by `ring::source(100)`; do not edit. To write it again:
//! `cargo run -p interlocking-bench --bin ring > crates/interlocking-bench/src/ring100.rs`.

use crate::Ball;
use crate::services_loop::State;
use interlocking::net::Net;
use interlocking::prelude::*;

/// Handler of every node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass;

";
