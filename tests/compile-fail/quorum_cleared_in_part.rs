//! A join with a quorum loses all of its slots, or none.

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
    #[node(input = String, goto(count), goto(exit, cancels(anna, bert, count.anna)))]
    carl: LogicNode<()>,
    #[node(join(anna: String, bert: String, carl: String), quorum = 2, cancels(*), goto(exit))]
    count: JoinNode<()>,
}

#[derive(Graph)]
#[graph(output = String)]
struct Runoff {
    #[node(entry, input = String, fork(first.anna, first.bert, second.anna, second.bert))]
    ask: ForkNode<()>,
    #[node(join(anna: String from(ask), bert: String from(ask)), quorum = 1, cancels(second.anna), goto(exit, cancels(*)))]
    first: JoinNode<()>,
    #[node(join(anna: String from(ask), bert: String from(ask)), quorum = 1, cancels(first), goto(exit, cancels(*)))]
    second: JoinNode<()>,
}

fn main() {}
