//! Attributes are those of the manual.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), visit = 3)]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), retries = 3, agent_name("editor"))]
    review: LogicNode<()>,
}

fn main() {}
