//! `PassOn` under another name chooses no target either.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = Topic, output = String, goto(write, exit), attempts = 3)]
    write: LLMNode<Nobody>,
}

type Nobody = PassOn;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, askama::Template)]
#[template(source = "Write about {{ self.0 }}.", ext = "txt")]
struct Topic(String);

fn main() {}
