//! Nodes and slots share one module of markers.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, desk_spelling))]
    write: ForkNode<()>,
    #[node(input = String, goto(desk))]
    spelling: LogicNode<()>,
    #[node(input = String, goto(desk))]
    desk_spelling: LogicNode<()>,
    #[node(join(spelling: String, facts: String from(desk_spelling)), goto(exit))]
    desk: JoinNode<()>,
}

fn main() {}
