//! A bare join means the one slot that lists the source; with several, say which.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(desk, facts))]
    write: ForkNode<()>,
    #[node(input = String, goto(desk))]
    facts: LogicNode<()>,
    #[node(join(draft: String from(write), facts: String from(write, facts)), goto(exit))]
    desk: JoinNode<()>,
}

fn main() {}
