//! Agents that are confined to their workspaces, and cannot see each other's.

use askama::Template;
use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use interlocking::table::Isolation;

#[derive(Template)]
#[template(source = "Work on {{ task }}.", ext = "txt")]
struct WorkPrompt<'a> {
    task: &'a str,
}

#[derive(Graph)]
#[graph(output = String)]
struct Blind {
    #[node(entry, input = String, fork(tests, code))]
    plan: ForkNode<Plan>,
    #[node(input = String, prompt = WorkPrompt<'_>, output = String, workspace = "tests", goto(meet), blind_to(code))]
    tests: LLMNode<Work>,
    #[node(input = String, prompt = WorkPrompt<'_>, output = String, workspace = "code", goto(meet), isolation = "sandbox",
        blind_to(tests, review))]
    code: LLMNode<Work>,
    #[node(join(tests: String, code: String), goto(run))]
    meet: JoinNode<Meet>,
    #[node(input = String, workspace = "tests", goto(mend))]
    run: LogicNode<Run>,
    #[node(input = String, prompt = WorkPrompt<'_>, output = String, workspace = "tests", goto(review))]
    mend: LLMNode<Work>,
    #[node(input = String, prompt = WorkPrompt<'_>, output = String, workspace = "review", goto(exit))]
    review: LLMNode<Work>,
}

held!(Blind);

struct Plan;
impl ForkHandler<blind::plan> for Plan {
    async fn fork(&self, task: String, cx: &mut Cx<'_, blind::plan>) -> Route<blind::plan> {
        fork!(cx, (task.clone(), task))
    }
}

struct Meet;
impl JoinHandler<blind::meet> for Meet {
    async fn join(&self, (tests, code): (String, String), cx: &mut Cx<'_, blind::meet>) -> Route<blind::meet> {
        goto!(cx, blind::run, tests + &code)
    }
}

struct Run;
impl LogicHandler<blind::run> for Run {
    async fn run(&self, work: String, cx: &mut Cx<'_, blind::run>) -> Route<blind::run> {
        goto!(cx, blind::mend, work)
    }
}

struct Work;
macro_rules! works {
    ($($node:ident => $next:ident),*) => {$(
        impl LLMHandler<blind::$node> for Work {
            async fn before<'a>(&'a self, task: &'a String, _: &mut Cx<'_, blind::$node>) -> Ask<WorkPrompt<'a>> {
                Ok((WorkPrompt { task }, SessionOp::StartFresh(Slug::new(stringify!($node))?)))
            }
            async fn after(
                &self,
                _: String,
                reply: Reply<String>,
                cx: &mut Cx<'_, blind::$node>,
            ) -> Route<blind::$node> {
                goto!(cx, blind::$next, reply.output)
            }
        }
    )*};
}
works!(tests => meet, code => meet, mend => review, review => exit);

#[test]
fn who_is_blind_works_apart_and_who_shares_a_workspace_shares_its_isolation() {
    let _graph = Blind {
        plan: ForkNode(Plan),
        tests: LLMNode(Work),
        code: LLMNode(Work),
        meet: JoinNode(Meet),
        run: LogicNode(Run),
        mend: LLMNode(Work),
        review: LLMNode(Work),
    };
    let rows = Blind::net().table().nodes.iter();
    let demands: Vec<_> = rows.map(|row| (row.name.as_str(), row.isolation, row.blind_to.join(" "))).collect();
    assert_eq!(
        demands,
        [
            ("plan", None, String::new()),
            ("tests", Some(Isolation::Clone), "code".to_owned()),
            ("code", Some(Isolation::Sandbox), "tests review".to_owned()),
            ("meet", None, String::new()),
            // No agent works in it, and the runtime's own code is not confined.
            ("run", None, String::new()),
            ("mend", Some(Isolation::Clone), String::new()),
            ("review", None, String::new()),
        ]
    );
    assert!(Blind::net().features().isolation);
}
