//! What takes no token has none that could go elsewhere.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), spawn(spell))]
    write: LogicNode<()>,
    #[node(on(String), resume, failed(exit, cancels(*)), timeout = "1m", timed_out(write, cancels(write)))]
    wire: EventNode<()>,
    #[node(input = String, report = String, reports_to(exit), failed(write))]
    spell: AdvisoryNode<()>,
}

fn main() {}
