//! Each attribute belongs to some kinds.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review), fork(review, desk.review))]
    write: ForkNode<()>,
    #[node(input = String, goto(desk), prompt = Prompt<'_>, output = String, agent = "editor")]
    review: LogicNode<()>,
    #[node(join(first: String, second: String), input = String, model = "haiku", goto(exit))]
    last: LogicNode<()>,
    #[node(input = String, join(review: String, write: String), goto(last))]
    desk: JoinNode<()>,
}

fn main() {}
