//! What a node of each kind cannot do without.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), concurrency = 2)]
    write: MapNode<()>,
    #[node(input = String, goto(exit), spawn(hint))]
    review: HumanNode<()>,
    #[node(reports_to(exit))]
    hint: AdvisoryNode<()>,
    #[node(reports_to(exit))]
    witness: ObserverNode<()>,
    #[node(resume)]
    rebase: EventNode<()>,
}

fn main() {}
