//! Nodes beside the graph, maps, questions and messages have attributes of their own, and lack others. (HY-67, HY-68)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), map = Newsroom, depth = 2, question = String, on(String), resume)]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), report = String, reports_to(exit), observes(write), concurrency = 2, adopt)]
    review: HumanNode<()>,
    #[node(input = String, report = String, reports_to(exit), goto(exit), attempts = 2, spawn(hint))]
    hint: AdvisoryNode<()>,
    #[node(input = String, observes(write), report = u64, reports_to(exit), memory = u64, workspace = "desk", agent = "eye")]
    witness: ObserverNode<()>,
    #[node(on(String), input = String, resume, fork(write, review), join(a: String, b: String), attempts = 3)]
    rebase: EventNode<()>,
}

fn main() {}
