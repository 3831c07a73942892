//! Prompts that borrow from the input.

use askama::Template;
use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Article {
    text: String,
}

#[derive(Template)]
#[template(source = "Write about {{ topic }}.", ext = "txt")]
struct WritePrompt<'a> {
    topic: &'a str,
}

#[derive(Template)]
#[template(source = "Review {{ article.text }}.", ext = "txt")]
struct ReviewPrompt<'a> {
    article: &'a Article,
}

#[derive(Graph)]
#[graph(output = Article)]
struct Newsroom {
    #[node(entry, input = String, prompt = WritePrompt<'_>, output = Article, goto(review))]
    write: LLMNode<Write>,
    #[node(
        input = Article,
        prompt = ReviewPrompt<'_>,
        output = bool,
        goto(write, exit),
        visits = 3,
        agent = "editor",
        workspace = "desk",
        read_only
    )]
    review: LLMNode<Review>,
}

held!(Newsroom);

struct Review;
impl LLMHandler<newsroom::review> for Review {
    async fn before<'a>(&'a self, article: &'a Article, _: &mut Cx<'_, newsroom::review>) -> Ask<ReviewPrompt<'a>> {
        Ok((ReviewPrompt { article }, SessionOp::StartFresh(Slug::new("review")?)))
    }
    async fn after(
        &self,
        article: Article,
        reply: Reply<bool>,
        cx: &mut Cx<'_, newsroom::review>,
    ) -> Route<newsroom::review> {
        if reply.output { goto!(cx, newsroom::exit, article) } else { goto!(cx, newsroom::write, article.text) }
    }
}

struct Write;
impl LLMHandler<newsroom::write> for Write {
    async fn before<'a>(&'a self, topic: &'a String, _: &mut Cx<'_, newsroom::write>) -> Ask<WritePrompt<'a>> {
        Ok((WritePrompt { topic }, SessionOp::StartFresh(Slug::new("write")?)))
    }
    async fn after(
        &self,
        _: String,
        reply: Reply<Article>,
        cx: &mut Cx<'_, newsroom::write>,
    ) -> Route<newsroom::write> {
        goto!(cx, newsroom::review, reply.output)
    }
}

#[test]
fn prompts_borrow_from_the_input() {
    let _graph = Newsroom { write: LLMNode(Write), review: LLMNode(Review) };
    let table = Newsroom::net().table();
    assert_eq!(table.nodes[0].agent.as_deref(), Some("write"), "a role is called like its node");
    assert_eq!(table.nodes[1].agent.as_deref(), Some("editor"));
    assert_eq!(table.nodes[1].workspace.as_deref(), Some("desk"));
    assert!(table.nodes[1].read_only && !table.nodes[0].read_only);
    assert_eq!(table.nodes[1].prompt.as_deref(), Some("ReviewPrompt<'_>"));
}
