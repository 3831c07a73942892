//! A run starts at one node.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    #[node(entry, input = String, goto(exit))]
    review: LogicNode<()>,
}

fn main() {}
