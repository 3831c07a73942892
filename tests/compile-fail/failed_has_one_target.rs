//! No handler chooses the target of a failed node's route.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), failed(review, exit))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), timeout = "1m", timed_out(write, exit))]
    review: LogicNode<()>,
}

fn main() {}
