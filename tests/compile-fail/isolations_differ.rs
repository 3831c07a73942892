//! Who shares a workspace shares its isolation.

use askama::Template;
use interlocking::prelude::*;

#[derive(Template)]
#[template(source = "Write.", ext = "txt")]
struct Draft;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, prompt = Draft, output = String, workspace = "desk", goto(revise), isolation = "clone")]
    write: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "desk", goto(review))]
    revise: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "desk", goto(exit), isolation = "sandbox")]
    review: LLMNode<()>,
}

fn main() {}
