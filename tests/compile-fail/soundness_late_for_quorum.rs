//! A join that does not wait for all of its slots clears all who would come to it later.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Election {
    #[node(entry, input = String, fork(anna, bert, carl))]
    ask: LogicNode<Todo>,
    #[node(input = String, goto(count))]
    anna: LogicNode<Todo>,
    #[node(input = String, goto(count))]
    bert: LogicNode<Todo>,
    #[node(input = String, goto(think))]
    carl: LogicNode<Todo>,
    #[node(input = String, goto(count))]
    think: LogicNode<Todo>,
    #[node(join(anna: String, bert: String, carl: String from(think)), quorum = 2, cancels(anna, bert, carl), goto(exit))]
    count: JoinNode<Todo>,
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
