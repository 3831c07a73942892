//! A run starts somewhere.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(input = String, goto(review))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit))]
    review: LogicNode<()>,
}

fn main() {}
