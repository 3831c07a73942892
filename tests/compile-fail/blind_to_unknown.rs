//! What a node is blind to is another node, and named once.

use askama::Template;
use interlocking::prelude::*;

#[derive(Template)]
#[template(source = "Write.", ext = "txt")]
struct Draft;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, prompt = Draft, output = String, workspace = "draft", goto(review), blind_to(reveiw))]
    write: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "notes", goto(exit), blind_to(review, write, write))]
    review: LLMNode<()>,
}

fn main() {}
