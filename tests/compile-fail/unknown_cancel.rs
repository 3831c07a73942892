//! What is cancelled is a node, a join, a slot, or everything.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review, cancels(reviews, desk.facts)), goto(exit, cancels(*, review)))]
    write: LogicNode<()>,
    #[node(input = String, goto(write, cancels(exit, write, write)), goto(exit))]
    review: LogicNode<()>,
}

fn main() {}
