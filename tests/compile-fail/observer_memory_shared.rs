//! An observer steers no node: no other node reads its memory. (HY-68)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), memory(witness: u64))]
    write: LogicNode<()>,
    #[node(observes(write), report = u64, reports_to(exit))]
    witness: ObserverNode<()>,
}

fn main() {}
