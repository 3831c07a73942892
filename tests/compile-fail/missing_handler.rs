//! A node without its handler is reported at its field. (PRG-08, HY-59)

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

fn main() {}
