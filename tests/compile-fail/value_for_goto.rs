//! A handler returns the way on, and not the value that goes there.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = bool)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    judge: LogicNode<Judge>,
}

struct Judge;
impl LogicHandler<newsroom::judge> for Judge {
    async fn run(&self, draft: String, _: &mut Cx<'_, newsroom::judge>) -> Route<newsroom::judge> {
        Ok(draft.is_empty())
    }
}

fn main() {}
