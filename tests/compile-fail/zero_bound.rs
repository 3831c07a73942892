//! A bound lets the node run.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(write, review), visits = 0)]
    write: LogicNode<()>,
    #[node(input = String, goto(review, chapters), attempts = 0)]
    review: LogicNode<()>,
    #[node(input = String, map = Newsroom, depth = 0, concurrency = 0, goto(exit))]
    chapters: MapNode<()>,
}

fn main() {}
