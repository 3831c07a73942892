//! An agent's answer does not choose among targets, and without a handler no prompt is made.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = Topic, output = Topic, goto(review, exit))]
    write: LLMNode,
    #[node(input = Topic, prompt = ReviewPrompt<'_>, output = Topic, goto(print, exit))]
    review: LLMNode,
    #[node(input = Topic, prompt = PrintPrompt<'_>, output = String, goto(exit))]
    print: LLMNode,
}

fn main() {}
