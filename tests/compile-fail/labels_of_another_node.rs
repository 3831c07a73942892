//! A route hint is an edge of the labels' node, and labels are those of that node's handler.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), visits = 3)]
    write: LogicNode<Write>,
    #[node(input = String, goto(write, exit))]
    review: LogicNode<Review>,
}

#[derive(Labels)]
#[labels(node = newsroom::write)]
enum Written {
    #[label(info, route_hint = newsroom::exit)]
    Done,
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        cx.label(&Written::Done);
        goto!(cx, newsroom::review, draft)
    }
}

struct Review;
impl LogicHandler<newsroom::review> for Review {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
        cx.label(&Written::Done);
        cx.label(&draft);
        goto!(cx, newsroom::exit, draft)
    }
}

fn main() {}
