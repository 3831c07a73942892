//! While the table is wrong, what its runs can come to is not asked: `dsek` may be the way out.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<Todo>,
    #[node(input = String, goto(write, dsek))]
    review: LogicNode<Todo>,
    #[node(input = String, goto(exit))]
    desk: LogicNode<Todo>,
}

struct Todo;
impl<N: Node> LogicHandler<N> for Todo {
    async fn run(&self, _: N::Input, _: &mut Cx<'_, N>) -> Route<N> {
        todo!()
    }
}

fn main() {}
