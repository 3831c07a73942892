//! A slot names what fills it.

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
    #[node(join(
        spelling: String,
        truth: String,
        style: String from(),
        tone: String from(fact, facts, facts),
        spelling: String,
    ), goto(exit))]
    desk: JoinNode<()>,
}

fn main() {}
