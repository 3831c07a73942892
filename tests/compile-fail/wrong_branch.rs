//! `fork!` takes one payload a branch, and a branch with alternatives takes one of them.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, fork(spelling, facts | desk.facts))]
    write: ForkNode<Write>,
    #[node(input = String, fork(desk, facts, cancels(facts, desk.facts)))]
    spelling: ForkNode<Spelling>,
    #[node(input = u64, goto(desk))]
    facts: LogicNode<Facts>,
    #[node(join(spelling: String, facts: bool from(write, facts)), goto(exit))]
    desk: JoinNode<Desk>,
}

struct Write;
impl ForkHandler<newsroom::write> for Write {
    async fn fork(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        if draft.is_empty() {
            return fork!(cx, (draft, cx.branch::<newsroom::desk_spelling>(draft.clone())));
        }
        fork!(cx, (draft.clone(), cx.branch::<newsroom::facts>(draft)))
    }
}

struct Spelling;
impl ForkHandler<newsroom::spelling> for Spelling {
    async fn fork(&self, draft: String, cx: &mut Cx<'_, newsroom::spelling>) -> Route<newsroom::spelling> {
        fork!(cx, (draft, "many"))
    }
}

struct Facts;
impl LogicHandler<newsroom::facts> for Facts {
    async fn run(&self, count: u64, cx: &mut Cx<'_, newsroom::facts>) -> Route<newsroom::facts> {
        goto!(cx, newsroom::desk, count)
    }
}

struct Desk;
impl JoinHandler<newsroom::desk> for Desk {
    async fn join(&self, (article, _): (String, bool), cx: &mut Cx<'_, newsroom::desk>) -> Route<newsroom::desk> {
        goto!(cx, newsroom::exit, article)
    }
}

fn main() {}
