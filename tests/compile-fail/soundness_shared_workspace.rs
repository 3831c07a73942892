//! Two branches do not change one workspace at once.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts), workspace = "draft")]
    write: LogicNode<Todo>,
    #[node(input = String, goto(desk), workspace = "draft")]
    spelling: LogicNode<Todo>,
    #[node(input = String, goto(desk), workspace = "draft")]
    facts: LogicNode<Todo>,
    #[node(join(spelling: String, facts: String), goto(exit), workspace = "draft")]
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
