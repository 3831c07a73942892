//! A graph node that does not hold the child graph itself holds a handler; and the child is a graph.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = bool)]
struct Newsroom {
    #[node(entry, input = String, graph = Review, goto(exit))]
    review: GraphNode<Nobody>,
}

struct Nobody;

#[derive(Graph)]
#[graph(output = bool)]
struct Lost {
    #[node(entry, input = String, graph = Nobody, goto(exit))]
    review: GraphNode<Nobody>,
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
