//! A child graph does not choose among targets, a graph does not hold itself, and a child graph has a name and a depth.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = bool)]
struct Newsroom {
    #[node(entry, input = String, graph = Review, goto(again, exit))]
    review: GraphNode<Review>,
    #[node(input = String, graph = Newsroom, depth = 2, goto(forked))]
    again: GraphNode<Newsroom>,
    #[node(input = String, graph = Newsroom, goto(other))]
    deeper: GraphNode<()>,
    #[node(input = String, graph = Self, depth = 2, goto(exit))]
    other: GraphNode<()>,
    #[node(input = String, goto(exit))]
    none: GraphNode<Review>,
    #[node(input = String, graph = Review, fork(deeper, none))]
    forked: GraphNode<Review>,
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
