//! No edge leads to what takes no token of the run.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(hint, review), spawn(hint))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit, witness), fork(rebase, rebase.slot | exit), visits = 2, exhausted(rebase))]
    review: LogicNode<()>,
    #[node(input = String, report = String, reports_to(exit))]
    hint: AdvisoryNode<()>,
    #[node(observes(write), report = u64, reports_to(exit))]
    witness: ObserverNode<()>,
    #[node(on(String), resume)]
    rebase: EventNode<()>,
}

fn main() {}
