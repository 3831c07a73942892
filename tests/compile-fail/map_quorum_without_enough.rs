//! `quorum = enough` needs a handler that decides when there is enough.

use interlocking::prelude::*;
use std::sync::Arc;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, map = Newsroom, depth = 2, quorum = enough, goto(exit))]
    write: MapNode<Writers>,
}

struct Writers;
impl MapHandler<newsroom::write> for Writers {
    fn graph(&self, cx: &Cx<'_, newsroom::write>) -> Result<Arc<Newsroom>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(&self, draft: &String, _: &mut Cx<'_, newsroom::write>) -> Result<Vec<Item<Newsroom>>, NodeError> {
        Ok(vec![Item::new(draft.clone())])
    }
    async fn gather(
        &self,
        draft: String,
        _: Children<Newsroom>,
        cx: &mut Cx<'_, newsroom::write>,
    ) -> Route<newsroom::write> {
        goto!(cx, newsroom::exit, draft)
    }
}

fn main() {}
