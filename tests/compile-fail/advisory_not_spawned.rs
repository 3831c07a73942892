//! An advisory node that no node starts never runs. (HY-67)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), spawn(hint))]
    write: LogicNode<()>,
    #[node(input = String, report = String, reports_to(exit))]
    hint: AdvisoryNode<()>,
    #[node(input = String, report = String, reports_to(exit))]
    style: AdvisoryNode<()>,
}

fn main() {}
