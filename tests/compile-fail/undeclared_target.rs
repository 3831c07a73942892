//! A handler goes only where the row of its node says. (PRG-20, V3-124)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<Write>,
    #[node(input = u64, goto(write, exit), visits = 3)]
    review: LogicNode<Review>,
}

struct Review;
impl LogicHandler<newsroom::review> for Review {
    async fn run(&self, words: u64, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
        goto!(cx, newsroom::exit, format!("{words} words"))
    }
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        if draft.is_empty() {
            return goto!(cx, newsroom::exit, draft);
        }
        cx.goto::<newsroom::write>(draft)
    }
}

fn main() {}
