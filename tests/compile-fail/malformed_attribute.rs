//! Each malformed item is reported, and hides no other.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry = true, input, goto = review, visits = "three", timeout = 90)]
    write: LogicNode<()>,
    #[node(input = String, goto(), fork(write, cancels()), visits = many, attempts = 4294967296, memory(Notes))]
    review: LogicNode<()>,
    #[node(join(first, second: String latched from(write)), goto(cancels(*), exit), exhausted(exit, write))]
    desk: JoinNode<()>,
    #[node(on(), resume = 3, spawn, goto(exit, cancels(*)))]
    rebase: EventNode<()>,
    #[node(observes(), report, reports_to exit)]
    witness: ObserverNode<()>,
    #[node]
    last: LogicNode<()>,
}

fn main() {}
