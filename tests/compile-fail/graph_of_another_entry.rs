//! Without a handler, a child graph starts with what its node takes.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = bool)]
struct Newsroom {
    #[node(entry, input = u32, graph = Review, goto(exit))]
    review: GraphNode<Review>,
}

#[derive(Graph)]
#[graph(output = bool)]
struct Review {
    #[node(entry, input = String, goto(exit))]
    read: LogicNode<Read>,
}

struct Read;
impl LogicHandler<review::read> for Read {
    async fn run(&self, draft: String, cx: &mut Cx<'_, review::read>) -> Route<review::read> {
        goto!(cx, review::exit, draft.is_empty())
    }
}

fn main() {}
