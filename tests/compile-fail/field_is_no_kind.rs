//! A field's type is one of the node kinds: another type of the same name runs nothing.

use interlocking::prelude::Graph;

struct LogicNode<H>(H);

#[derive(Graph)]
#[graph(output = u32)]
struct Newsroom {
    #[node(entry, input = u32, goto(exit))]
    count: LogicNode<Count>,
}

struct Count;

fn main() {}
