//! A timeout is a number and a unit.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), timeout = "90")]
    write: LogicNode<()>,
    #[node(input = String, goto(publish), timeout = "soon")]
    review: LogicNode<()>,
    #[node(input = String, goto(exit), timeout = "0s")]
    publish: LogicNode<()>,
}

fn main() {}
