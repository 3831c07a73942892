//! Some run reaches the exit, other than by failing. (HY-66)

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Watch {
    #[node(entry, input = String, goto(left, right), visits = 9)]
    poll: LogicNode<Todo>,
    #[node(input = String, fork(poll, both.left, cancels(both)))]
    left: LogicNode<Todo>,
    #[node(input = String, fork(poll, both.right, cancels(both)))]
    right: LogicNode<Todo>,
    #[node(join(left: String, right: String), goto(exit, cancels(*)))]
    both: JoinNode<Todo>,
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
