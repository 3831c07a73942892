//! Every node is reached from the entry. (HY-66)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit))]
    review: LogicNode<()>,
    #[node(input = String, goto(exit))]
    publish: LogicNode<()>,
    #[node(input = String, goto(publish, right))]
    left: LogicNode<()>,
    #[node(input = String, goto(left))]
    right: LogicNode<()>,
}

fn main() {}
