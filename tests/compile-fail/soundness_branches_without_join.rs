//! Branches meet in a join, not in a node that takes one value.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts))]
    write: LogicNode<Todo>,
    #[node(input = String, goto(print))]
    spelling: LogicNode<Todo>,
    #[node(input = String, goto(print))]
    facts: LogicNode<Todo>,
    #[node(input = String, goto(exit))]
    print: LogicNode<Todo>,
}

struct Todo;
impl<N: Node> LogicHandler<N> for Todo {
    async fn run(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        todo!()
    }
}

fn main() {}
