//! A branch does not end the run while others are live.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(review, exit))]
    write: ForkNode<()>,
    #[node(input = String, goto(exit))]
    review: LogicNode<()>,
}

fn main() {}
