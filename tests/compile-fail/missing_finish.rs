//! A graph with reports says what becomes of them. (HY-67, HY-257)

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Newsroom {
    #[node(entry, input = String, goto(exit), spawn(hint))]
    write: LogicNode<Write>,
    #[node(input = String, report = String, reports_to(exit))]
    hint: AdvisoryNode<Hint>,
}

struct Write;
impl LogicHandler<newsroom::write> for Write {
    async fn run(&self, draft: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
        cx.spawn::<newsroom::hint>(draft.clone());
        goto!(cx, newsroom::exit, draft)
    }
}

struct Hint;
impl AdvisoryHandler<newsroom::hint> for Hint {
    async fn advise(&self, draft: String, _: &mut Cx<'_, newsroom::hint>) -> Result<String, NodeError> {
        Ok(draft)
    }
}

fn main() {}
