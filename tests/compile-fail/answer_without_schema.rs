//! What a person answers has a JSON schema.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, question = String, answer = Approval, goto(exit))]
    approve: HumanNode<Approve>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Approval {
    approved: bool,
}

struct Approve;
impl HumanHandler<newsroom::approve> for Approve {
    async fn ask(&self, text: &String, _: &mut Cx<'_, newsroom::approve>) -> Result<String, NodeError> {
        Ok(text.clone())
    }
    async fn answered(&self, text: String, _: Approval, cx: &mut Cx<'_, newsroom::approve>) -> Route<newsroom::approve> {
        goto!(cx, newsroom::exit, text)
    }
}

fn main() {}
