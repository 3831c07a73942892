//! A graph that runs itself has a depth.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(again, exit), visits = 3)]
    write: LogicNode<()>,
    #[node(input = String, map = Newsroom, goto(deeper))]
    again: MapNode<()>,
    #[node(input = String, map = Self, depth = 2, goto(bounded))]
    deeper: MapNode<()>,
    #[node(input = String, map = Newsroom, depth = 2, goto(exit))]
    bounded: MapNode<()>,
}

fn main() {}
