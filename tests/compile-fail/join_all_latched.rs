//! One slot of a join is not latched.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts))]
    write: ForkNode<()>,
    #[node(input = String, goto(desk))]
    spelling: LogicNode<()>,
    #[node(input = String, goto(desk))]
    facts: LogicNode<()>,
    #[node(join(spelling: String latched, facts: String latched), goto(exit))]
    desk: JoinNode<()>,
}

fn main() {}
