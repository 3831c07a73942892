//! All errors of a struct are reported at once, and nothing that follows from them.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts), visits = 0)]
    write: ForkNode<Write>,
    #[node(goto(dsek), timeout = "1 day")]
    spelling: LogicNode<Spelling>,
    #[node(input = String, goto(desk), atempts = 2)]
    facts: LogicNode<Facts>,
    #[node(join(spelling: String, facts: bool, style: String), goto(exit))]
    desk: JoinNode<Desk>,
}

struct Write;
impl ForkHandler<newsroom::write> for Write {
    async fn fork(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        fork!(cx, (draft.clone(), draft))
    }
}

struct Spelling;
impl LogicHandler<newsroom::spelling> for Spelling {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::spelling>) -> Route<newsroom::spelling> {
        goto!(cx, newsroom::desk, draft)
    }
}

struct Facts;
impl LogicHandler<newsroom::facts> for Facts {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::facts>) -> Route<newsroom::facts> {
        goto!(cx, newsroom::desk, draft.is_empty())
    }
}

struct Desk;
impl JoinHandler<newsroom::desk> for Desk {
    async fn join(
        &self,
        (article, sound, _): (String, bool, String),
        cx: &mut Cx<'_, newsroom::desk>,
    ) -> Route<newsroom::desk> {
        goto!(cx, newsroom::exit, format!("{article}: {sound}"))
    }
}

fn main() {}
