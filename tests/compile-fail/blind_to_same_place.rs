//! What a node is blind to lies in another place than its own.

use askama::Template;
use interlocking::prelude::*;

#[derive(Template)]
#[template(source = "Write.", ext = "txt")]
struct Draft;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(write))]
    plan: LogicNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "desk", goto(review), blind_to(plan))]
    write: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "desk", goto(exit), blind_to(write))]
    review: LLMNode<()>,
}

fn main() {}
