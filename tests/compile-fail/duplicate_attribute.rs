//! An attribute is given once, but for `goto`.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String, output = u8)]
struct Newsroom {
    #[node(entry, entry, input = String, input = String, goto(review), visits = 1, visits = 2)]
    write: LogicNode<()>,
    #[node(input = String, goto(exit))]
    review: LogicNode<()>,
}

fn main() {}
