//! An edge has one budget.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), goto(write, times = 5), attempts = 3)]
    write: LogicNode<()>,
}

fn main() {}
