//! An observer starts with an empty report.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit))]
    write: LogicNode<Write>,
    #[node(observes(write), report = Count, reports_to(exit))]
    witness: ObserverNode<Witness>,
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Count(u64);

impl Finish for Newsroom {
    async fn finish(&self, output: String, _: Self::Reports) -> Result<String, NodeError> {
        Ok(output)
    }
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        goto!(cx, newsroom::exit, draft)
    }
}

struct Witness;
impl ObserverHandler<newsroom::witness> for Witness {
    async fn observe(&self, _: &Observation, count: &mut Count) -> Result<(), NodeError> {
        count.0 += 1;
        Ok(())
    }
}

fn main() {}
