//! A join with a quorum keeps nothing for later rounds.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Election {
    #[node(entry, input = String, fork(anna, bert, carl))]
    ask: ForkNode<()>,
    #[node(input = String, goto(count))]
    anna: LogicNode<()>,
    #[node(input = String, goto(count))]
    bert: LogicNode<()>,
    #[node(input = String, goto(count))]
    carl: LogicNode<()>,
    #[node(join(anna: String, bert: String latched, carl: String), quorum = 2, cancels(*), goto(exit))]
    count: JoinNode<()>,
}

fn main() {}
