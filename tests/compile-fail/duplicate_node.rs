//! Two nodes have two names.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit))]
    review: LogicNode<()>,
    #[node(input = String, goto(exit))]
    review: LogicNode<()>,
}

fn main() {}
