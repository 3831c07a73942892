//! An LLM node has a prompt and an output.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, prompt = WritePrompt<'_>, goto(review))]
    write: LLMNode<()>,
    #[node(input = String, output = String, goto(exit))]
    review: LLMNode<()>,
}

fn main() {}
