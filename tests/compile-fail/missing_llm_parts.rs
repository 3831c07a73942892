//! An LLM node has an output, and another that asks an agent a prompt too.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, prompt = WritePrompt<'_>, goto(review))]
    write: LLMNode<()>,
    #[node(input = String, goto(exit), spawn(advise))]
    review: LLMNode<()>,
    #[node(input = String, output = String, report = String, reports_to(exit))]
    advise: AdvisoryNode<()>,
}

fn main() {}
