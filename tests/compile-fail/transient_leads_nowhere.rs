//! A message that nobody ever waits for is always lost, and nobody but an event node takes any.

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
