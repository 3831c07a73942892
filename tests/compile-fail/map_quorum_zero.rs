//! A map with a quorum waits for some of its children at least.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Newsroom, depth = 2, quorum = 0, goto(exit))]
    write: MapNode<()>,
}

fn main() {}
