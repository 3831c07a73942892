//! A latched value is kept for later rounds, so it can be copied.

use interlocking::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Spelling(String);

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(desk.spelling, desk.facts))]
    write: ForkNode<Write>,
    #[node(join(spelling: Spelling from(write) latched, facts: bool from(write)), goto(exit))]
    desk: JoinNode<Desk>,
}

struct Write;
impl ForkHandler<newsroom::write> for Write {
    async fn fork(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        fork!(cx, (Spelling(draft), true))
    }
}

struct Desk;
impl JoinHandler<newsroom::desk> for Desk {
    async fn join(&self, (draft, _): (Spelling, bool), cx: &mut Cx<'_, newsroom::desk>) -> Route<newsroom::desk> {
        goto!(cx, newsroom::exit, draft.0)
    }
}

fn main() {}
