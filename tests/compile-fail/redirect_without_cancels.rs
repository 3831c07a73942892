//! A redirect takes the run from somewhere.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit))]
    review: LogicNode<()>,
    #[node(on(String), goto(write, exit), goto(review, times = 2, exhausted(exit), cancels(write)), visits = 2,
        exhausted(exit))]
    rebase: EventNode<()>,
}

fn main() {}
