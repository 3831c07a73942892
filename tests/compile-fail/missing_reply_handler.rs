//! An LLM node whose input is its prompt has a handler that takes the reply, or none. (PRG-08)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = Topic, output = String, goto(exit))]
    write: LLMNode<Write>,
}

#[derive(serde::Serialize, serde::Deserialize, askama::Template)]
#[template(source = "Write about {{ self.0 }}.", ext = "txt")]
struct Topic(String);

struct Write;

fn main() {}
