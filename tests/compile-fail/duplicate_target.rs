//! A target is listed once, and a branch has a target of its own.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review, exit), goto(review, cancels(review)))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), fork(write, split | write, split | split))]
    review: LogicNode<()>,
    #[node(input = String, goto(exit))]
    split: LogicNode<()>,
}

fn main() {}
