//! A target is a node of the graph. (HY-65)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(reviw, publish))]
    write: LogicNode<()>,
    #[node(input = String, goto(write, self, exit))]
    review: LogicNode<()>,
}

fn main() {}
