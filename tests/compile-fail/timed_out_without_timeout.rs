//! The route of a timeout belongs to one.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), timed_out(exit))]
    write: LogicNode<()>,
}

fn main() {}
