//! What remains of a node that failed and whose run went on: its agent's usage, its workspace, its children.

use crate::support::{Recording, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, ending};
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::workspaces::{WorkspaceError, Workspaces};
use interlocking::runtime::{Journal, MemoryJournal};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(askama::Template)]
#[template(source = "{{ text }}", ext = "txt")]
struct Question<'a> {
    text: &'a str,
}

#[derive(Graph)]
#[graph(output = String)]
struct Answering {
    #[node(entry, input = String, prompt = Question<'_>, output = u32, goto(exit), failed(guess), timeout = "30s",
        timed_out(hurry))]
    answer: LLMNode<Answer>,
    #[node(input = Failure, goto(exit))]
    guess: LogicNode<Guess>,
    #[node(input = TimedOut, goto(exit))]
    hurry: LogicNode<Hurry>,
}

struct Answer;
impl LLMHandler<answering::answer> for Answer {
    async fn before<'a>(&'a self, text: &'a String, _: &mut Cx<'_, answering::answer>) -> Ask<Question<'a>> {
        Ok((Question { text }, SessionOp::StartFresh(Slug::new("answer")?)))
    }
    async fn after(
        &self,
        _: String,
        reply: Reply<u32>,
        cx: &mut Cx<'_, answering::answer>,
    ) -> Route<answering::answer> {
        goto!(cx, answering::exit, reply.output.to_string())
    }
}
logic!(Guess for answering::guess, |failure: Failure, cx| {
    assert_eq!(failure.kind, FailureKind::Agent);
    goto!(cx, answering::exit, format!("a guess: {}", failure.message.lines().next().unwrap_or_default()))
});
logic!(Hurry for answering::hurry, |late: TimedOut, cx| goto!(cx, answering::exit, format!("{} ms", late.limit_ms)));

async fn answered(script: &str) -> (String, u32, Vec<Entry>) {
    let journal = Arc::new(MemoryJournal::new());
    let graph = Answering { answer: LLMNode(Answer), guess: LogicNode(Guess), hurry: LogicNode(Hurry) };
    let run = timed(graph).with_agent("answer", Recording::new(script)).with_journal(journal.clone());
    let report = run.start("how many?".to_owned()).await.unwrap();
    let records = journal.load(&report.run).await.unwrap();
    (report.outcome.clone().finished().unwrap(), report.usage().calls, records.into_iter().map(|it| it.entry).collect())
}

/// The usage in the record of the failed execution.
fn recorded(entries: &[Entry]) -> u32 {
    let calls = entries.iter().filter_map(|entry| match entry {
        Entry::Outcome(outcome) if outcome.failed.is_some() => Some(&outcome.calls),
        _ => None,
    });
    calls.flatten().map(|call| call.usage.calls).sum()
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_a_valid_answer_goes_on_and_is_paid() {
    let (output, calls, entries) = answered("[[turn]]\ntimes = \"any\"\noutput = \"many\"").await;
    assert!(output.starts_with("a guess: "), "{output}");
    assert_eq!((calls, recorded(&entries)), (3, 3), "it was corrected twice");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_takes_too_long_goes_on_and_is_paid() {
    let (output, calls, entries) = answered("[[turn]]\ndelay = \"2m\"\noutput = 4").await;
    assert_eq!(output, "30000 ms");
    assert_eq!((calls, recorded(&entries)), (1, 1));
}

/// A place that cannot be made.
struct Nowhere;
#[async_trait::async_trait]
impl Workspaces for Nowhere {
    fn locate(&self, _: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(PathBuf::new())
    }
    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
    async fn ready(&self, _: &str) -> Result<Option<String>, WorkspaceError> {
        Err(WorkspaceError::Unusable { reason: "no room".to_owned() })
    }
}

#[derive(Graph)]
#[graph(output = Failure)]
struct Placed {
    #[node(entry, input = Failure, goto(exit), failed(exit), workspace = "main")]
    place: LogicNode<Place>,
}
logic!(Place for placed::place, |it: Failure, cx| goto!(cx, placed::exit, it));

#[tokio::test(start_paused = true)]
async fn a_workspace_that_fails_is_a_failure_of_its_node() {
    let run = timed(Placed { place: LogicNode(Place) }).with_workspaces(Arc::new(Nowhere));
    let begin = Failure::from(TimedOut { node: "nobody".to_owned(), visit: 1, attempt: 1, limit_ms: 0 });
    let failure = finished(run.start(begin).await.unwrap());
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Workspace, "workspace `main`: no room"));
}

#[derive(Graph)]
#[graph(output = u64)]
struct Page {
    #[node(entry, input = u64, goto(exit))]
    write: LogicNode<Write>,
}
logic!(Write for page::write, |seconds: u64, cx| {
    pass(seconds * 1_000).await;
    if seconds == 13 { Err("no such page")? }
    goto!(cx, page::exit, seconds)
});

/// Children and tests meet at a barrier (V3-129).
#[derive(Graph)]
#[graph(output = String)]
struct Barrier {
    #[node(entry, input = Vec<u64>, fork(children, tests))]
    begin: ForkNode<Begin>,
    #[node(input = Vec<u64>, map = Page, goto(barrier.merges), failed(barrier.merges), timeout = "60s")]
    children: MapNode<Pages>,
    #[node(input = Vec<u64>, goto(barrier))]
    tests: LogicNode<Tests>,
    #[node(join(merges: Merges from(children), tests: u64), goto(exit))]
    barrier: JoinNode<Meet>,
}

/// A graph as one node.
#[derive(Graph)]
#[graph(output = Printed)]
struct Book {
    #[node(entry, input = u64, graph = Page, goto(print), failed(exit))]
    page: GraphNode<Page>,
    #[node(input = u64, goto(exit))]
    print: LogicNode<Print>,
}
logic!(Print for book::print, |page: u64, cx| goto!(cx, book::exit, Printed(Ok(page))));

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Printed(Result<u64, Failure>);

impl From<Failure> for Printed {
    fn from(failure: Failure) -> Self {
        Self(Err(failure))
    }
}

held!(Answering, Placed, Page, Barrier, Book);

#[tokio::test(start_paused = true)]
async fn a_child_graph_that_fails_is_a_failure_of_its_node() {
    let book = || timed(Book { page: GraphNode(Page { write: LogicNode(Write) }), print: LogicNode(Print) });
    assert_eq!(finished(book().start(4).await.unwrap()).0, Ok(4));
    let failure = finished(book().start(13).await.unwrap()).0.unwrap_err();
    let FailureKind::Child(child) = &failure.kind else { panic!("{failure}") };
    assert!(child.to_string().contains("no such page"), "{child}");
    assert_eq!(failure.node, "page");
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum Merges {
    Done(Vec<u64>),
    Failed(Failure),
}

impl From<Failure> for Merges {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

forks!(Begin for barrier::begin, |pages: Vec<u64>, cx| fork!(cx, (pages.clone(), pages)));
struct Pages;
impl MapHandler<barrier::children> for Pages {
    fn graph(&self, _: &Cx<'_, barrier::children>) -> Result<Arc<Page>, NodeError> {
        Ok(Arc::new(Page { write: LogicNode(Write) }))
    }
    async fn items(&self, pages: &Vec<u64>, _: &mut Cx<'_, barrier::children>) -> Result<Vec<Item<Page>>, NodeError> {
        Ok(pages.iter().copied().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<u64>,
        mut children: Children<Page>,
        cx: &mut Cx<'_, barrier::children>,
    ) -> Route<barrier::children> {
        let mut done = Vec::new();
        while let Some(child) = children.any().await {
            done.push(child.result?);
        }
        goto!(cx, barrier::barrier_merges, Merges::Done(done))
    }
}
logic!(Tests for barrier::tests, |pages: Vec<u64>, cx| goto!(cx, barrier::barrier, pages.len() as u64));
joins!(Meet for barrier::barrier, |(merges, tests): (Merges, u64), cx| {
    let merges = match merges {
        Merges::Done(pages) => format!("{pages:?}"),
        Merges::Failed(failure) => failure.message,
    };
    goto!(cx, barrier::exit, format!("{tests} tests; {merges}"))
});

/// The output, and how the child runs ended.
async fn barrier(pages: &[u64]) -> (String, Vec<&'static str>) {
    let journal = Arc::new(MemoryJournal::new());
    let (children, tests) = (MapNode(Pages), LogicNode(Tests));
    let graph = Barrier { begin: ForkNode(Begin), children, tests, barrier: JoinNode(Meet) };
    let report = timed(graph).with_journal(journal.clone()).start(pages.to_vec()).await.unwrap();
    let mut endings = Vec::new();
    for child in journal.children(&report.run).await.unwrap() {
        endings.push(ending(&journal.load(&child.run).await.unwrap()).unwrap_or("no end"));
    }
    endings.sort_unstable();
    (finished(report), endings)
}

/// V3-129: a child that fails releases the barrier with a typed failure; nothing hangs, and the other children are ended.
#[tokio::test(start_paused = true)]
async fn children_that_fail_release_the_barrier() {
    assert_eq!(barrier(&[1, 2]).await, ("2 tests; [1, 2]".to_owned(), vec!["finished", "finished"]));
    let (output, endings) = barrier(&[13, 1, 50]).await;
    assert!(output.starts_with("3 tests; ") && output.contains("no such page"), "{output}");
    assert_eq!(endings, ["cancelled", "failed", "finished"]);
    let (output, endings) = barrier(&[1, 3_600]).await;
    assert_eq!(output, "2 tests; took longer than its timeout of 60s");
    assert_eq!(endings, ["cancelled", "finished"]);
}
