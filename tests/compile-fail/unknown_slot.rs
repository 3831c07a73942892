//! A target `join.slot` is a slot of that join; other nodes have none.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts))]
    write: ForkNode<()>,
    #[node(input = String, goto(desk.speling))]
    spelling: LogicNode<()>,
    #[node(input = String, goto(desk.truth))]
    facts: LogicNode<()>,
    #[node(join(spelling: String, facts: String), goto(write.draft, exit.now, exit))]
    desk: JoinNode<()>,
}

fn main() {}
