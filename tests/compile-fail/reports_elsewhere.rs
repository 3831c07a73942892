//! What works beside the graph reports to its exit, and says so. (HY-67, HY-68)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), spawn(hint, style))]
    write: LogicNode<()>,
    #[node(input = String, report = String)]
    hint: AdvisoryNode<()>,
    #[node(input = String, report = String, reports_to(write))]
    style: AdvisoryNode<()>,
    #[node(observes(write), report = u64)]
    witness: ObserverNode<()>,
    #[node(observes(write), report = u64, reports_to(exit, exit))]
    counter: ObserverNode<()>,
}

fn main() {}
