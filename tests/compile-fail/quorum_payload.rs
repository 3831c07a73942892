//! Who fills an optional slot says whether there is a value.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = String)]
struct Election {
    #[node(entry, input = String, fork(anna, bert, carl))]
    ask: ForkNode<Ask>,
    #[node(input = String, goto(count))]
    anna: LogicNode<Vote>,
    #[node(input = String, goto(count))]
    bert: LogicNode<Vote>,
    #[node(input = String, goto(count))]
    carl: LogicNode<Vote>,
    #[node(join(anna: String optional, bert: String, carl: String), quorum = 2, cancels(*), goto(exit))]
    count: JoinNode<Count>,
}

struct Vote;
impl LogicHandler<election::anna> for Vote {
    async fn run(&self, vote: String, cx: &mut Cx<'_, election::anna>) -> Route<election::anna> {
        goto!(cx, election::count, vote)
    }
}
impl LogicHandler<election::bert> for Vote {
    async fn run(&self, vote: String, cx: &mut Cx<'_, election::bert>) -> Route<election::bert> {
        goto!(cx, election::count, vote)
    }
}
impl LogicHandler<election::carl> for Vote {
    async fn run(&self, vote: String, cx: &mut Cx<'_, election::carl>) -> Route<election::carl> {
        goto!(cx, election::count, vote)
    }
}
struct Ask;
impl ForkHandler<election::ask> for Ask {
    async fn fork(&self, vote: String, cx: &mut Cx<'_, election::ask>) -> Route<election::ask> {
        fork!(cx, (vote.clone(), vote.clone(), vote))
    }
}
struct Count;
impl JoinHandler<election::count> for Count {
    async fn join(&self, votes: (String, String, String), cx: &mut Cx<'_, election::count>) -> Route<election::count> {
        goto!(cx, election::exit, votes.0)
    }
}

fn main() {}
