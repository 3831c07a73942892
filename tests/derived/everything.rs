//! Every attribute of the manual for nodes that take tokens and need no journal, in one graph that runs; `kinds` has the
//! other attributes.

use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Verdict {
    Printed(String),
    GaveUp(String),
}

impl From<Exhausted<String>> for Verdict {
    fn from(exhausted: Exhausted<String>) -> Self {
        Self::GaveUp(format!("{} at {}: {}", exhausted.node, exhausted.limit, exhausted.input))
    }
}

#[derive(Graph)]
#[graph(output = Verdict, module = room)]
pub(super) struct Newsroom {
    /// Splits the work.
    #[node(entry, input = String, fork(spelling, facts | desk.facts), visits = 5, memory(desk: Vec<String>))]
    write: ForkNode<Write>,
    #[node(input = String, goto(spelling, desk), attempts = 3, exhausted(exit, cancels(*)), timeout = "90s")]
    spelling: LogicNode<Spelling>,
    #[node(input = String, goto(desk), goto(exit, cancels(spelling, desk)), visits = unbounded)]
    facts: LogicNode<Facts>,
    #[node(
        join(spelling: String from(spelling, again), facts: bool from(facts, write) latched),
        goto(review),
        goto(write, cancels(desk.facts)),
        memory(desk: Vec<String>),
    )]
    desk: JoinNode<Desk>,
    #[node(input = String, goto(again, exit), memory = u64, visits = 2, exhausted(exit))]
    review: LogicNode<Review>,
    #[node(input = String, goto(desk), workspace = "main")]
    again: LogicNode<Again>,
}

held!(Newsroom);

struct Write;
impl ForkHandler<room::write> for Write {
    async fn fork(&self, draft: String, cx: &mut Cx<'_, room::write>) -> Route<room::write> {
        cx.update_memory(|notes| notes.push("write".into()));
        match draft.as_str() {
            "skip" => fork!(cx, (draft, cx.branch::<room::desk_facts>(true))),
            _ => fork!(cx, (draft.clone(), cx.branch::<room::facts>(draft))),
        }
    }
}

struct Spelling;
impl LogicHandler<room::spelling> for Spelling {
    async fn run(&self, draft: String, cx: &mut Cx<'_, room::spelling>) -> Route<room::spelling> {
        if draft == "hopeless" { goto!(cx, self, draft) } else { goto!(cx, room::desk, draft) }
    }
}

struct Facts;
impl LogicHandler<room::facts> for Facts {
    async fn run(&self, draft: String, cx: &mut Cx<'_, room::facts>) -> Route<room::facts> {
        if draft == "libel" {
            return goto!(cx, room::exit, Verdict::GaveUp(draft));
        }
        goto!(cx, room::desk, true)
    }
}

struct Desk;
impl JoinHandler<room::desk> for Desk {
    async fn join(&self, (draft, _): (String, bool), cx: &mut Cx<'_, room::desk>) -> Route<room::desk> {
        cx.update_memory(|notes| notes.push("desk".into()));
        if draft == "new" && cx.memory().len() < 3 {
            return goto!(cx, room::write, draft);
        }
        goto!(cx, room::review, draft)
    }
}

struct Review;
impl LogicHandler<room::review> for Review {
    async fn run(&self, draft: String, cx: &mut Cx<'_, room::review>) -> Route<room::review> {
        cx.update_memory(|seen| *seen += 1);
        match draft.as_str() {
            "endless" => goto!(cx, room::again, draft),
            "twice" if cx.memory() == 1 => goto!(cx, room::again, draft),
            _ => goto!(cx, room::exit, Verdict::Printed(draft)),
        }
    }
}

struct Again;
impl LogicHandler<room::again> for Again {
    async fn run(&self, draft: String, cx: &mut Cx<'_, room::again>) -> Route<room::again> {
        assert_eq!(cx.workspace()?.path, std::env::temp_dir());
        // The other slot is latched: it still has its value.
        goto!(cx, room::desk, draft)
    }
}

async fn run(draft: &str) -> Verdict {
    let graph = Newsroom {
        write: ForkNode(Write),
        spelling: LogicNode(Spelling),
        facts: LogicNode(Facts),
        desk: JoinNode(Desk),
        review: LogicNode(Review),
        again: LogicNode(Again),
    };
    let workspaces = interlocking::runtime::workspaces::Directories::new().with("main", std::env::temp_dir());
    let run = Run::new(graph).with_workspaces(std::sync::Arc::new(workspaces));
    match run.start(draft.to_owned()).await.expect("the graph needs no agents").outcome {
        Outcome::Finished(verdict) => verdict,
        other => panic!("{draft}: {other:?}"),
    }
}

#[tokio::test]
async fn every_attribute_does_what_it_says() {
    for plain in ["plain", "skip", "new", "twice"] {
        assert_eq!(run(plain).await, Verdict::Printed(plain.into()));
    }
    assert_eq!(run("libel").await, Verdict::GaveUp("libel".into()));
    assert_eq!(run("endless").await, Verdict::GaveUp("review at visits = 2: endless".into()));
    assert_eq!(run("hopeless").await, Verdict::GaveUp("spelling at attempts = 3: hopeless".into()));
    assert_eq!(Newsroom::NODES, 6);
}
