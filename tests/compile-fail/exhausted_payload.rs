//! The target of an exhausted route takes what the bound kept out.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = u64, goto(write, exit), visits = 3, exhausted(exit))]
    write: LogicNode<Write>,
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, words: u64, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, self, words + 1)
    }
}

fn main() {}
