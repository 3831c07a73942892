//! A node without its handler is reported at its field, whatever its kind.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Other, goto(review), spawn(style))]
    write: MapNode<Nobody>,
    #[node(input = String, question = String, answer = bool, goto(split))]
    review: HumanNode<Nobody>,
    #[node(input = String, fork(gate.text, gate.title))]
    split: ForkNode<Nobody>,
    #[node(join(text: String from(split), title: String from(split)), goto(exit))]
    gate: JoinNode<Nobody>,
    #[node(input = String, report = String, reports_to(exit))]
    style: AdvisoryNode<Nobody>,
    #[node(observes(write), report = u64, reports_to(exit))]
    witness: ObserverNode<Nobody>,
    #[node(on(String), resume)]
    rebase: EventNode<Nobody>,
}

impl Finish for Newsroom {
    async fn finish(&self, output: String, _: Self::Reports) -> Result<String, NodeError> {
        Ok(output)
    }
}

struct Nobody;

#[derive(Graph)]
#[graph(output = String)]
struct Other {
    #[node(entry, input = String, goto(exit))]
    only: LogicNode<Only>,
}

struct Only;
impl LogicHandler<other::only> for Only {
    async fn run(&self, draft: String, cx: &mut Cx<'_, other::only>) -> Route<other::only> {
        goto!(cx, other::exit, draft)
    }
}

fn main() {}
