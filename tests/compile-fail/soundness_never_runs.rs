//! A join whose slots are never filled in one round never runs. (HY-66)

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(spelling, facts))]
    write: LogicNode<Todo>,
    #[node(input = String, fork(print, desk.spelling))]
    spelling: LogicNode<Todo>,
    #[node(input = String, fork(print, desk.facts))]
    facts: LogicNode<Todo>,
    #[node(input = String, goto(exit, cancels(*)))]
    print: LogicNode<Todo>,
    #[node(join(spelling: String, facts: String), goto(correct))]
    desk: JoinNode<Todo>,
    #[node(input = String, goto(exit, cancels(*)))]
    correct: LogicNode<Todo>,
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
