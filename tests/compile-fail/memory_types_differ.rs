//! A memory group has one type.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), memory(desk: Vec<String>))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), memory(desk: Vec<u8>))]
    review: LogicNode<()>,
}

fn main() {}
