//! The field's type says the kind.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogikNode<()>,
    #[node(input = String, goto(exit))]
    review: Review,
}

struct Review;
struct LogikNode<H>(H);

fn main() {}
