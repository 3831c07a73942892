//! Slots are filled along edges, which none leads from an advisory node or an observer.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(facts, style), spawn(hint))]
    write: LogicNode<()>,
    #[node(input = String, goto(desk))]
    facts: LogicNode<()>,
    #[node(input = String, goto(desk))]
    style: LogicNode<()>,
    #[node(join(facts: String, style: String from(style, witness), hint: String), goto(exit))]
    desk: JoinNode<()>,
    #[node(input = String, report = String, reports_to(exit))]
    hint: AdvisoryNode<()>,
    #[node(observes(write), report = u64, reports_to(exit))]
    witness: ObserverNode<()>,
}

fn main() {}
