//! A budget lets its edge be taken.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), goto(write, times = 0))]
    review: LogicNode<()>,
}

fn main() {}
