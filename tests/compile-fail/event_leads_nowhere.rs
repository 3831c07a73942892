//! A message leaves the run as it is, or redirects it.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<()>,
    #[node(on(String))]
    rebase: EventNode<()>,
}

fn main() {}
