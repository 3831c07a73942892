//! Without a handler, what the agent returns is what the one target takes, and the input is a prompt.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = bool)]
struct Newsroom {
    #[node(entry, input = Topic, output = String, goto(exit))]
    write: LLMNode,
}

#[derive(serde::Serialize, serde::Deserialize, askama::Template)]
#[template(source = "Write about {{ self.0 }}.", ext = "txt")]
struct Topic(String);

#[derive(Graph)]
#[graph(output = String)]
struct Press {
    #[node(entry, input = u32, output = String, goto(exit))]
    print: LLMNode,
}

fn main() {}
