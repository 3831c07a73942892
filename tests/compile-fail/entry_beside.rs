//! A run starts with a token, at a node that takes one.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), spawn(hint))]
    write: LogicNode<()>,
    #[node(entry, input = String, report = String, reports_to(exit))]
    hint: AdvisoryNode<()>,
    #[node(entry, on(String), resume)]
    rebase: EventNode<()>,
}

fn main() {}
