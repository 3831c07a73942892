//! A graph with more markings than the check may look at is not taken for sound.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String, markings = 2)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts))]
    write: LogicNode<Todo>,
    #[node(input = String, goto(desk))]
    spelling: LogicNode<Todo>,
    #[node(input = String, goto(desk))]
    facts: LogicNode<Todo>,
    #[node(join(spelling: String, facts: String), goto(exit))]
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
