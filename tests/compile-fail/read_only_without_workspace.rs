//! `read_only` speaks of a workspace, and what has a name is not called nothing.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), read_only)]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), workspace = "", exclusive = " ")]
    review: LogicNode<()>,
}

fn main() {}
