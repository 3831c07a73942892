//! Only advisory nodes are spawned. (HY-67)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), spawn(hnit, review, hint, hint))]
    write: LogicNode<()>,
    #[node(input = String, goto(exit), spawn(publish))]
    review: LogicNode<()>,
    #[node(input = String, report = String, reports_to(exit))]
    hint: AdvisoryNode<()>,
}

fn main() {}
