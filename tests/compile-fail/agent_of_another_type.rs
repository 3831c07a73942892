//! What plays a role is an agent: a program's name is none.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = u32)]
struct Newsroom {
    #[node(entry, input = u32, goto(exit))]
    count: LogicNode<Count>,
}

struct Count;
impl LogicHandler<newsroom::count> for Count {
    async fn run(&self, count: u32, cx: &mut Cx<'_, newsroom::count>) -> Route<newsroom::count> {
        goto!(cx, newsroom::exit, count)
    }
}

fn main() {
    let _ = Run::new(Newsroom { count: LogicNode(Count) }).with_agent("writer", "claude");
}
