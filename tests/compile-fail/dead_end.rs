//! Every node leads to the exit. (HY-66)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review, publish, exit))]
    write: LogicNode<()>,
    #[node(input = String)]
    review: LogicNode<()>,
    #[node(input = String, goto(print))]
    publish: LogicNode<()>,
    #[node(input = String, goto(publish))]
    print: LogicNode<()>,
}

fn main() {}
