//! What travels along an edge is serde data.

use interlocking::prelude::*;

struct Draft(String);

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = Draft, goto(exit))]
    write: LogicNode<Write>,
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: Draft, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::exit, draft.0)
    }
}

fn main() {}
