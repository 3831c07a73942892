//! A template as an agent's prompt.

use askama::Template;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Article {
    title: String,
}

#[derive(Graph)]
#[graph(output = Article)]
struct Newsroom {
    #[node(entry, input = String, prompt = WritePrompt<'_>, output = Article, goto(exit))]
    write: LLMNode<Write>,
}

#[derive(Template)]
#[template(source = "Write about {{ topic }}.", ext = "txt")]
struct WritePrompt<'a> {
    topic: &'a str,
}

struct Write;

impl LLMHandler<newsroom::write> for Write {
    async fn before<'a>(&'a self, topic: &'a String, _: &mut Cx<'_, newsroom::write>) -> Ask<WritePrompt<'a>> {
        Ok((WritePrompt { topic }, SessionOp::StartFresh(Slug::new("write")?)))
    }

    async fn after(&self, _: String, reply: Reply<Article>, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::exit, reply.output)
    }
}

fn main() {
    let _ = Run::new(Newsroom { write: LLMNode(Write) });
}
