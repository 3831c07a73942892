//! Everything that is wrong is reported at once, each at the field to change.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(write, research))]
    assign: LogicNode<Todo>,
    #[node(input = String, goto(review))]
    write: LogicNode<Todo>,
    #[node(input = String, goto(write, exit))]
    review: LogicNode<Todo>,
    #[node(input = String, fork(facts, figures))]
    research: LogicNode<Todo>,
    #[node(input = String, goto(desk, exit))]
    facts: LogicNode<Todo>,
    #[node(input = String, goto(desk))]
    figures: LogicNode<Todo>,
    #[node(join(facts: String, figures: String), goto(exit))]
    desk: JoinNode<Todo>,
}

struct Todo;
impl<N: Node> LogicHandler<N> for Todo {
    async fn run(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        todo!()
    }
}
impl<N: Node> JoinHandler<N> for Todo {
    async fn join(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        todo!()
    }
}

fn main() {}
