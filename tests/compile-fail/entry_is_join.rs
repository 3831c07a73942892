//! A run starts with one value.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, join(spelling: String, facts: String), goto(spelling, exit))]
    desk: JoinNode<()>,
    #[node(input = String, fork(facts, desk))]
    spelling: ForkNode<()>,
    #[node(input = String, goto(desk))]
    facts: LogicNode<()>,
}

fn main() {}
