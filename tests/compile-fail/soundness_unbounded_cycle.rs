//! A cycle has a budget, or says that it has none.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<Todo>,
    #[node(input = String, goto(write, print))]
    review: LogicNode<Todo>,
    #[node(input = String, goto(print, exit))]
    print: LogicNode<Todo>,
}

struct Todo;
impl<N: Node> LogicHandler<N> for Todo {
    async fn run(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        todo!()
    }
}

fn main() {}
