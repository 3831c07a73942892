//! A run does not end while branches are live.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Hybrid {
    #[node(entry, input = String, goto(post, exit))]
    validate: LogicNode<Todo>,
    #[node(input = String, fork(finish, mutation))]
    post: LogicNode<Todo>,
    #[node(input = String, goto(exit))]
    finish: LogicNode<Todo>,
    #[node(input = String, goto(exit))]
    mutation: LogicNode<Todo>,
}

struct Todo;
impl<N: Node> LogicHandler<N> for Todo {
    async fn run(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        todo!()
    }
}

fn main() {}
