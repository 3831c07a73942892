//! There are three levels of isolation, each with a name.

use askama::Template;
use interlocking::prelude::*;

#[derive(Template)]
#[template(source = "Write.", ext = "txt")]
struct Draft;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, prompt = Draft, output = String, workspace = "draft", goto(review), isolation = "sandbx")]
    write: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "notes", goto(last), isolation = "container")]
    review: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "last", goto(exit), isolation)]
    last: LLMNode<()>,
}

fn main() {}
