//! An agent is kept in a workspace: there must be both.

use askama::Template;
use interlocking::prelude::*;

#[derive(Template)]
#[template(source = "Write.", ext = "txt")]
struct Draft;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, prompt = Draft, output = String, goto(review), isolation = "clone")]
    write: LLMNode<()>,
    #[node(input = String, workspace = "notes", goto(last), isolation = "clone")]
    review: LogicNode<()>,
    #[node(input = String, prompt = Draft, output = String, goto(exit), spawn(hint), blind_to(review))]
    last: LLMNode<()>,
    #[node(input = String, report = String, reports_to(exit), workspace = "hints", isolation = "sandbox")]
    hint: AdvisoryNode<()>,
}

fn main() {}
