//! A run comes to its exit once, so a budget bounds nothing there.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit, times = 2))]
    write: LogicNode<()>,
}

fn main() {}
