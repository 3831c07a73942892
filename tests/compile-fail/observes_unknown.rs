//! An observer sees nodes that there are, and no observer. (HY-68)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<()>,
    #[node(observes(wirte, witness, counter), report = u64, reports_to(exit))]
    witness: ObserverNode<()>,
    #[node(observes(write, write), report = u64, reports_to(exit))]
    counter: ObserverNode<()>,
}

fn main() {}
