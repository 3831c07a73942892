//! A join gets a value in every slot, in every round: a way back fills all of them again.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Gated {
    #[node(entry, input = String, fork(skeleton, adversary))]
    types: LogicNode<Todo>,
    #[node(input = String, goto(gate))]
    skeleton: LogicNode<Todo>,
    #[node(input = String, goto(gate))]
    adversary: LogicNode<Todo>,
    #[node(join(skeleton: String, adversary: String), goto(types_fix, exit))]
    gate: JoinNode<Todo>,
    #[node(input = String, goto(skeleton), visits = 5)]
    types_fix: LogicNode<Todo>,
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
