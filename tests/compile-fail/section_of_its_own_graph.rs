//! A node that has a turn and runs its own graph would wait for itself.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(again, exit))]
    write: LogicNode<()>,
    #[node(input = String, graph = Newsroom, depth = 2, exclusive = "press", goto(exit))]
    again: GraphNode<()>,
}

fn main() {}
