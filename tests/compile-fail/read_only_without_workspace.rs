//! `read_only` speaks of a workspace, and a workspace has a name.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), read_only)]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), workspace = "")]
    review: LogicNode<()>,
}

fn main() {}
