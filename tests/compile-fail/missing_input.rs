//! A node says what it takes.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, goto(review))]
    write: LogicNode<()>,
    #[node(goto(exit))]
    review: JoinNode<()>,
}

fn main() {}
