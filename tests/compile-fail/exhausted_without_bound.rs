//! An exhausted route belongs to a bound.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    #[node(input = String, goto(write, exit), exhausted(exit))]
    review: LogicNode<()>,
}

fn main() {}
