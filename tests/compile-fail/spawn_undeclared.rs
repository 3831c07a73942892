//! Whom a handler starts is in its row; and so is whether it may leave the run as it is.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), spawn(style))]
    write: LogicNode<Write>,
    #[node(input = String, goto(exit))]
    review: LogicNode<Review>,
    #[node(input = String, report = String, reports_to(exit))]
    style: AdvisoryNode<Style>,
    #[node(on(String), goto(exit, cancels(*)))]
    rebase: EventNode<Rebase>,
}

impl Finish for Newsroom {
    async fn finish(&self, output: String, _: Self::Reports) -> Result<String, NodeError> {
        Ok(output)
    }
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        cx.spawn::<newsroom::style>(1);
        goto!(cx, newsroom::review, draft)
    }
}

struct Review;
impl LogicHandler<newsroom::review> for Review {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
        cx.spawn::<newsroom::style>(draft.clone());
        goto!(cx, newsroom::exit, draft)
    }
}

struct Style;
impl AdvisoryHandler<newsroom::style> for Style {
    async fn advise(&self, draft: String, cx: &mut Cx<'_, newsroom::style>) -> Result<String, NodeError> {
        let _ = cx.goto::<newsroom::review>(draft.clone());
        Ok(draft)
    }
}

struct Rebase;
impl EventHandler<newsroom::rebase> for Rebase {
    async fn handle(&self, _: String, cx: &mut Cx<'_, newsroom::rebase>) -> Route<newsroom::rebase> {
        cx.resume()
    }
}

fn main() {}
