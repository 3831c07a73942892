//! Who works beside the graph, and who waits for others, changes no workspace that others change. A node that is in several others'
//! way is told of once.

use interlocking::graph::Node;
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(print), spawn(hint, style), workspace = "draft")]
    write: LogicNode<Todo>,
    #[node(input = String, goto(exit), workspace = "print", exclusive = "press")]
    print: LogicNode<Todo>,
    #[node(input = String, report = String, reports_to(exit), workspace = "draft", visits = 1)]
    hint: AdvisoryNode<Todo>,
    #[node(input = String, report = String, reports_to(exit), workspace = "style")]
    style: AdvisoryNode<Todo>,
}

impl Finish for Newsroom {
    async fn finish(&self, print: String, _: Self::Reports) -> Result<String, NodeError> {
        Ok(print)
    }
}

#[derive(Graph)]
#[graph(output = String)]
struct Crowd {
    #[node(entry, input = String, fork(one, two, three, ask))]
    split: LogicNode<Todo>,
    #[node(input = String, goto(meet), workspace = "draft")]
    one: LogicNode<Todo>,
    #[node(input = String, goto(meet), workspace = "draft")]
    two: LogicNode<Todo>,
    #[node(input = String, goto(meet), workspace = "draft", exclusive = "draft")]
    three: LogicNode<Todo>,
    #[node(input = String, question = String, answer = String, goto(meet), workspace = "draft")]
    ask: HumanNode<Todo>,
    #[node(join(one: String, two: String, three: String, ask: String), goto(exit))]
    meet: JoinNode<Todo>,
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
impl<N: interlocking::graph::Asks> HumanHandler<N> for Todo {
    async fn ask(&self, _: &N::Input, _: &mut Cx<'_, N>) -> Result<N::Question, NodeError> {
        todo!()
    }
    async fn answered(&self, _: N::Input, _: N::Answer, _: &mut Cx<'_, N>) -> Route<N> {
        todo!()
    }
}
impl<N: interlocking::graph::Reports> AdvisoryHandler<N> for Todo {
    async fn advise(&self, _: N::Input, _: &mut Cx<'_, N>) -> Result<N::Report, NodeError> {
        todo!()
    }
}

fn main() {}
