//! The check for soundness looks at something.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String, markings = 0)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<()>,
}

fn main() {}
