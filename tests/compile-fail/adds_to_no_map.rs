//! Items are added to maps, by event nodes.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Newsroom, depth = 2, goto(check))]
    writers: MapNode<()>,
    #[node(input = String, adds_to(writers), goto(exit))]
    check: LogicNode<()>,
    #[node(on(String), adds_to(check, writer, writers, writers))]
    more: EventNode<()>,
}

fn main() {}
