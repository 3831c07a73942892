//! Every source of a slot has an edge to it.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts))]
    write: ForkNode<()>,
    #[node(input = String, goto(desk))]
    spelling: LogicNode<()>,
    #[node(input = String, goto(exit))]
    facts: LogicNode<()>,
    #[node(join(spelling: String, facts: String), goto(exit))]
    desk: JoinNode<()>,
}

fn main() {}
