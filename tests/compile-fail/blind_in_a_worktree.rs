//! A worktree shares its objects with the others, so no agent in it is blind.

use askama::Template;
use interlocking::prelude::*;

#[derive(Template)]
#[template(source = "Write.", ext = "txt")]
struct Draft;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, prompt = Draft, output = String, workspace = "draft", goto(revise),
        blind_to(review), isolation = "worktree")]
    write: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "desk", goto(review), blind_to(write))]
    revise: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "notes", goto(last))]
    review: LLMNode<()>,
    #[node(input = String, prompt = Draft, output = String, workspace = "desk", goto(exit), isolation = "worktree")]
    last: LLMNode<()>,
}

fn main() {}
