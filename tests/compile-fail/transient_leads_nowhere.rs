//! A message that the run never waits for is always lost, and only event nodes take messages.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), transient)]
    write: LogicNode<()>,
    #[node(on(String), resume, transient)]
    rebase: EventNode<()>,
}

fn main() {}
