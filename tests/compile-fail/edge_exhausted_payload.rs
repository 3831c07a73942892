//! The target of the route of an edge's budget takes what the edge would have carried.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = u64, goto(review))]
    write: LogicNode<Write>,
    #[node(input = String, goto(exit), goto(write, times = 3, exhausted(exit)))]
    review: LogicNode<Review>,
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, words: u64, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::review, words.to_string())
    }
}

struct Review;
impl LogicHandler<newsroom::review> for Review {
    async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
        match text.len() {
            0 => goto!(cx, newsroom::write, 1),
            _ => goto!(cx, newsroom::exit, text),
        }
    }
}

fn main() {}
