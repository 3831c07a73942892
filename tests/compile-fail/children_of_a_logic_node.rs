//! Only map nodes and graph nodes have child runs.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = ())]
struct Work {
    #[node(entry, input = (), goto(done))]
    start: LogicNode<Start>,
    #[node(input = (), goto(exit))]
    done: LogicNode<Done>,
}

struct Start;
impl LogicHandler<work::start> for Start {
    async fn run(&self, (): (), cx: &mut Cx<'_, work::start>) -> Route<work::start> {
        goto!(cx, work::done, ())
    }
}

struct Done;
impl LogicHandler<work::done> for Done {
    async fn run(&self, (): (), cx: &mut Cx<'_, work::done>) -> Route<work::done> {
        let _ = cx.depth_limit::<work::start>();
        goto!(cx, work::exit, ())
    }
}

fn main() {}
