//! `attempts` bounds the edge from a node to itself.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    #[node(input = String, goto(write, exit), attempts = 3)]
    review: LogicNode<()>,
}

fn main() {}
