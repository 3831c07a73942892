//! A value that comes once and is wanted in every round is latched.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct V3 {
    #[node(entry, input = String, goto(fork, exit), visits = 5)]
    scaffold: LogicNode<Todo>,
    #[node(input = String, fork(write_tests, children | barrier.merges))]
    fork: LogicNode<Todo>,
    #[node(input = String, goto(barrier.merges), goto(exit, cancels(*)))]
    children: LogicNode<Todo>,
    #[node(input = String, goto(barrier.tests), goto(scaffold, cancels(children, barrier)), visits = 12)]
    write_tests: LogicNode<Todo>,
    #[node(join(tests: String from(write_tests), merges: String from(children, fork)), goto(implement))]
    barrier: JoinNode<Todo>,
    #[node(input = String, goto(implement, review, exit), goto(scaffold, cancels(barrier)), attempts = 5, visits = 12)]
    implement: LogicNode<Todo>,
    #[node(input = String, goto(write_tests, exit), visits = 12)]
    review: LogicNode<Todo>,
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
