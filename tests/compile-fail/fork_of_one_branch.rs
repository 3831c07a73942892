//! A fork has branches, two or more.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(review))]
    write: ForkNode<()>,
    #[node(input = String, goto(publish))]
    review: LogicNode<()>,
    #[node(input = String)]
    publish: ForkNode<()>,
}

fn main() {}
