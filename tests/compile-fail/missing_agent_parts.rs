//! A node beside the graph, or an event node, that asks an agent says what it is told and what it returns.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), spawn(hint))]
    write: LogicNode<()>,
    #[node(input = String, report = String, reports_to(exit), prompt = Prompt<'_>)]
    hint: AdvisoryNode<()>,
    #[node(on(String), resume, agent = "rebaser")]
    rebase: EventNode<()>,
}

fn main() {}
