//! `before` says which session the turn runs in; a prompt alone is not enough. (PRG-02)

use askama::Template;
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
    #[node(input = Article, prompt = ReviewPrompt<'_>, output = bool, goto(write, exit), visits = 3, agent = "editor")]
    review: LLMNode<Review>,
}

struct Review;
impl LLMHandler<newsroom::review> for Review {
    async fn before<'a>(
        &'a self,
        article: &'a Article,
        _: &mut Cx<'_, newsroom::review>,
    ) -> Ask<ReviewPrompt<'a>> {
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
    async fn before<'a>(&'a self, topic: &'a String, _: &mut Cx<'_, newsroom::write>) -> Result<WritePrompt<'a>, NodeError> {
        let _ = topic;
        todo!()
    }
    async fn after(&self, _: String, reply: Reply<Article>, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::review, reply.output)
    }
}

fn main() {}
