//! A run ends with the graph's output, and with nothing else. (HY-64)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = u64)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<Write>,
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::exit, draft)
    }
}

fn main() {}
