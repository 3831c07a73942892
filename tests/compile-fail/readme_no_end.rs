//! The first graph of README.md, with one mistake.

use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Serialize, Deserialize)]
struct Topic(String);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Article {
    title: String,
    words: u32,
}

/// The struct is the whole routing table: kinds, data in and out, prompts, edges, budgets.
#[derive(Graph)]
#[graph(output = Article)]
struct Newsroom {
    /// An agent writes.
    #[node(entry, input = Topic, prompt = WritePrompt<'_>, output = Article, agent = "writer", goto(review))]
    write: LLMNode<Write>,
    /// Plain Rust decides.
    #[node(input = Article, goto(write), visits = 3)]
    review: LogicNode<Review>,
}

#[derive(Template)] // askama: a field that the template names and the struct lacks is a compile error
#[template(source = "Write about {{ topic }}, attempt {{ visit }}.", ext = "txt")]
struct WritePrompt<'a> {
    topic: &'a str,
    visit: u32,
}

struct Write;

impl LLMHandler<newsroom::write> for Write {
    async fn before<'a>(&'a self, topic: &'a Topic, cx: &mut Cx<'_, newsroom::write>) -> Ask<WritePrompt<'a>> {
        Ok((WritePrompt { topic: &topic.0, visit: cx.visit() }, SessionOp::StartFresh(Slug::new("write")?)))
    }

    async fn after(&self, _: Topic, reply: Reply<Article>, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::review, reply.output) // only `review`, and only with an `Article`
    }
}

struct Review;

impl LogicHandler<newsroom::review> for Review {
    async fn run(&self, article: Article, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
        match article.words {
            300.. => goto!(cx, newsroom::exit, article),
            _ => goto!(cx, newsroom::write, cx.entry()?.clone()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A scripted agent plays the writer here; a real one takes its place without a change to the graph.
    let script = r#"
        [[turn]]
        contains = ["Write about interlockings, attempt 1."]
        output = { title = "Short", words = 40 }

        [[turn]]
        contains = ["attempt 2"]
        output = { title = "Signals and points", words = 320 }
    "#;
    let writer = Arc::new(ScriptedAgent::new(Script::parse("newsroom.toml", script)?));
    let graph = Newsroom { write: LLMNode(Write), review: LogicNode(Review) };
    let report = Run::new(graph).with_agent("writer", writer).start(Topic("interlockings".into())).await?;
    assert_eq!(report.visits_of("write"), 2);
    let article = report.outcome.finished().ok_or("no article")?;
    assert_eq!(article.title, "Signals and points");
    Ok(())
}
