//! A quorum is a number or `enough`, and belongs to a node that waits for several.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Newsroom, depth = 2, quorum = most, goto(check))]
    write: MapNode<()>,
    #[node(input = String, quorum = 2, goto(exit))]
    check: LogicNode<()>,
}

fn main() {}
