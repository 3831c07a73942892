//! A join waits for several slots.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(desk))]
    write: LogicNode<()>,
    #[node(join(write: String), goto(exit))]
    desk: JoinNode<()>,
}

fn main() {}
