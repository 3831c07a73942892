//! Every field is a node, with one row.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    review: LogicNode<()>,
    #[node(input = String)]
    #[node(goto(exit))]
    publish: LogicNode<()>,
}

fn main() {}
