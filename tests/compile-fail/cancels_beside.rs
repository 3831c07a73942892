//! What takes no token of the run holds nothing to cancel.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit, cancels(hint, rebase)), spawn(hint))]
    write: LogicNode<()>,
    #[node(input = String, report = String, reports_to(exit))]
    hint: AdvisoryNode<()>,
    #[node(on(String), resume)]
    rebase: EventNode<()>,
}

fn main() {}
