//! A budget is one edge's, and a route beyond it needs one.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review, print, times = 2))]
    write: LogicNode<()>,
    #[node(input = String, goto(write, exhausted(exit)))]
    review: LogicNode<()>,
    #[node(input = String, fork(review, times = 2, publish))]
    print: LogicNode<()>,
    #[node(input = String, goto(exit), goto(write, times = many))]
    publish: LogicNode<()>,
    #[node(input = String, goto(write, times = 2, exhausted(exit, times = 1)))]
    revise: LogicNode<()>,
    #[node(input = String, goto(write, times = 2, times = 3))]
    correct: LogicNode<()>,
}

fn main() {}
