//! Joins do not wait for each other.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Trade {
    #[node(entry, input = String, fork(offer.goods, demand.money))]
    open: LogicNode<Todo>,
    #[node(join(goods: String from(open), paid: String from(demand)), goto(demand.delivered))]
    offer: JoinNode<Todo>,
    #[node(join(money: String from(open), delivered: String from(offer)), goto(offer.paid, exit), visits = 2)]
    demand: JoinNode<Todo>,
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
