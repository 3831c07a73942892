//! The target of a failure's route takes what the node failed with.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = u64, goto(print), failed(print))]
    write: LogicNode<Write>,
    #[node(input = u64, goto(exit), timeout = "10m", timed_out(exit))]
    print: LogicNode<Print>,
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, words: u64, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::print, words)
    }
}

struct Print;
impl LogicHandler<newsroom::print> for Print {
    async fn run(&self, words: u64, cx: &mut Cx<'_, newsroom::print>) -> Route<newsroom::print> {
        goto!(cx, newsroom::exit, words.to_string())
    }
}

fn main() {}
