//! Where a cycle goes on for ever, it has a way out at every time.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Watch {
    #[node(entry, input = String, goto(poll), fork(poll, both.start))]
    start: LogicNode<Todo>,
    #[node(input = String, goto(poll), fork(poll, both.poll, cancels(both.poll)), visits = unbounded)]
    poll: LogicNode<Todo>,
    #[node(join(start: String, poll: String), goto(exit, cancels(*)))]
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
