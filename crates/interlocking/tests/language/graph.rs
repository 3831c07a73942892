//! Graph nodes: a graph as one node of another.

use crate::support::{Log, failed, finished, timed};
use interlocking::failure::ChildFailure;
use interlocking::prelude::*;
use interlocking::runtime::journal::Origin;
use interlocking::runtime::{CancelToken, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Draft(String);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Verdict {
    text: String,
    passes: bool,
}

/// A graph that two others use: a review in two steps.
#[derive(Graph)]
#[graph(output = Verdict)]
struct Review {
    #[node(entry, input = Draft, goto(judge))]
    read: LogicNode<Read>,
    #[node(input = Draft, goto(exit))]
    judge: LogicNode<Judge>,
}

logic!(Read(reads: Arc<AtomicU32>) for review::read, |draft: Draft, cx| {
    reads.fetch_add(1, Ordering::SeqCst);
    goto!(cx, review::judge, draft)
});
logic!(Judge for review::judge, |draft: Draft, cx| match draft.0.as_str() {
    "" => Err("there is nothing to judge".into()),
    text => {
        let passes = text.len() > 3;
        goto!(cx, review::exit, Verdict { text: format!("{text} at depth {}", cx.depth()), passes })
    }
});

fn review(reads: &Arc<AtomicU32>) -> Review {
    Review { read: LogicNode(Read(reads.clone())), judge: LogicNode(Judge) }
}

/// The child's entry is the node's input, and its output goes to the only target, without a handler.
#[derive(Graph)]
#[graph(output = Verdict)]
struct Press {
    #[node(entry, input = String, goto(review))]
    write: LogicNode<Write>,
    #[node(input = Draft, graph = Review, goto(print))]
    review: GraphNode<Review>,
    #[node(input = Verdict, goto(exit))]
    print: LogicNode<Print>,
}

logic!(Write for press::write, |text: String, cx| goto!(cx, press::review, Draft(text)));
logic!(Print for press::print, |verdict: Verdict, cx| goto!(cx, press::exit, verdict));

/// The same child, with a handler that decides where its verdict leads.
#[derive(Graph)]
#[graph(output = Verdict)]
struct Desk {
    #[node(entry, input = String, graph = Review, goto(desk, exit), attempts = 3)]
    desk: GraphNode<Editor>,
}

struct Editor(Arc<AtomicU32>);
impl GraphHandler<desk::desk> for Editor {
    fn graph(&self, _: &Cx<'_, desk::desk>) -> Result<Arc<Review>, NodeError> {
        Ok(Arc::new(review(&self.0)))
    }
    async fn entry(&self, text: &String, _: &mut Cx<'_, desk::desk>) -> Result<Draft, NodeError> {
        Ok(Draft(text.clone()))
    }
    async fn after(&self, text: String, verdict: Verdict, cx: &mut Cx<'_, desk::desk>) -> Route<desk::desk> {
        if verdict.passes { goto!(cx, desk::exit, verdict) } else { goto!(cx, self, text + "!") }
    }
}

/// A graph that runs itself until it may go no deeper, or nothing is left to do.
#[derive(Graph)]
#[graph(output = u32)]
struct Digger {
    #[node(entry, input = u32, goto(deeper, exit))]
    dig: LogicNode<Dig>,
    #[node(input = u32, graph = Digger, depth = 2, goto(exit))]
    deeper: GraphNode<Deeper>,
}

held!(Review, Press, Desk, Digger, Pit, Outer, Inner, Long, Around, Mirror, Ping, Pong);

// A level that may go no deeper reports that, and the remaining work is done here (V3-161).
logic!(Dig for digger::dig, |left: u32, cx| {
    let may_nest = cx.depth_limit::<digger::deeper>().is_none_or(|limit| cx.depth() < limit);
    if left > 0 && may_nest { goto!(cx, digger::deeper, left) } else { goto!(cx, digger::exit, 100 * left + cx.depth()) }
});
struct Deeper {
    /// How much each level digs away.
    step: u32,
}
impl GraphHandler<digger::deeper> for Deeper {
    fn graph(&self, cx: &Cx<'_, digger::deeper>) -> Result<Arc<Digger>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn entry(&self, left: &u32, _: &mut Cx<'_, digger::deeper>) -> Result<u32, NodeError> {
        Ok(left - self.step)
    }
    async fn after(&self, _: u32, done: u32, cx: &mut Cx<'_, digger::deeper>) -> Route<digger::deeper> {
        goto!(cx, digger::exit, done)
    }
}

fn press(reads: &Arc<AtomicU32>) -> Run<Press> {
    timed(Press { write: LogicNode(Write), review: GraphNode(review(reads)), print: LogicNode(Print) })
}

#[tokio::test(start_paused = true)]
async fn a_graph_is_a_node_of_another() {
    let (reads, log, journal) = (Arc::default(), Log::new(), Arc::new(MemoryJournal::new()));
    let report =
        press(&reads).with_events(log.sink()).with_journal(journal.clone()).start("text".into()).await.unwrap();
    assert_eq!(finished(report), Verdict { text: "text at depth 1".into(), passes: true });
    let children = journal.children(&RunId::DEFAULT).await.unwrap();
    let [child] = &children[..] else { panic!("one child: {children:?}") };
    let Some(Origin::Child { node, key, number, .. }) = &child.origin else { panic!("{child:?}") };
    assert_eq!((node.as_str(), key.as_str(), *number), ("review", "review", 1));
    assert!(child.ended.is_some());
    assert_eq!(log.lines().matches(&format!(" in {}", child.run)).count(), 6, "{}", log.lines());
    let unrecorded = press(&reads).without_journal().start("text".into()).await.unwrap();
    assert!(finished(unrecorded).passes);
}

#[tokio::test(start_paused = true)]
async fn a_handler_makes_the_entry_and_chooses_the_way_on() {
    let reads = Arc::default();
    let run = timed(Desk { desk: GraphNode(Editor(Arc::clone(&reads))) });
    let verdict = finished(run.start("ab".into()).await.unwrap());
    assert_eq!(verdict.text, "ab!! at depth 1");
    assert_eq!(reads.load(Ordering::SeqCst), 3, "each attempt begins a child of its own");
}

/// Rule 8: the node's failure contains the child's.
#[tokio::test(start_paused = true)]
async fn a_child_that_fails_fails_the_node_with_its_failure_inside() {
    let failure = failed(press(&Arc::default()).start(String::new()).await.unwrap());
    let FailureKind::Child(child) = &failure.kind else { panic!("{failure:?}") };
    let ChildFailure::Failed(inner) = &**child else { panic!("{child:?}") };
    assert_eq!((failure.node.as_str(), inner.node.as_str()), ("review", "judge"));
    assert_eq!(inner.kind, FailureKind::Handler);
    assert_eq!(failure.to_string(), "node `review` failed: node `judge` failed: there is nothing to judge");
    let read: Failure = serde_json::from_str(&serde_json::to_string(&failure).unwrap()).unwrap();
    assert_eq!(read, failure, "it is recorded whole");
}

/// V3-161.
#[tokio::test(start_paused = true)]
async fn a_run_knows_how_deep_it_is_and_how_deep_it_may_go() {
    for (left, output) in [(0, 0), (1, 1), (2, 2), (5, 302)] {
        let run = timed(Digger { dig: LogicNode(Dig), deeper: GraphNode(Deeper { step: 1 }) });
        assert_eq!(finished(run.start(left).await.unwrap()), output, "{left}");
    }
}

#[derive(Graph)]
#[graph(output = u32)]
struct Pit {
    #[node(entry, input = u32, graph = Pit, depth = 2, goto(exit))]
    fall: GraphNode<Fall>,
}
struct Fall;
impl GraphHandler<pit::fall> for Fall {
    fn graph(&self, cx: &Cx<'_, pit::fall>) -> Result<Arc<Pit>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn entry(&self, at: &u32, _: &mut Cx<'_, pit::fall>) -> Result<u32, NodeError> {
        Ok(at + 1)
    }
    async fn after(&self, _: u32, at: u32, cx: &mut Cx<'_, pit::fall>) -> Route<pit::fall> {
        goto!(cx, pit::exit, at)
    }
}

/// A node that asks for a level too many fails.
#[tokio::test(start_paused = true)]
async fn a_child_beyond_the_depth_is_refused() {
    let mut failure = &failed(timed(Pit { fall: GraphNode(Fall) }).start(0).await.unwrap());
    for _ in 0..2 {
        let FailureKind::Child(child) = &failure.kind else { panic!("{failure:?}") };
        let ChildFailure::Failed(inner) = &**child else { panic!("{child:?}") };
        failure = inner;
    }
    assert_eq!(failure.kind, FailureKind::Child(Box::new(ChildFailure::TooDeep { limit: 2 })));
}

#[derive(Graph)]
#[graph(output = u32)]
struct Outer {
    #[node(entry, input = u32, graph = Inner, goto(again))]
    inner: GraphNode<Inner>,
    #[node(input = u32, goto(inner, exit), visits = 2)]
    again: LogicNode<Again>,
}
#[derive(Graph)]
#[graph(output = u32)]
struct Inner {
    #[node(entry, input = u32, goto(stop))]
    count: LogicNode<Count>,
    #[node(input = u32, goto(exit))]
    stop: LogicNode<Stop>,
}
logic!(Again for outer::again, |count: u32, cx| match cx.visit() {
    1 => goto!(cx, outer::inner, count),
    _ => goto!(cx, outer::exit, count),
});
logic!(Count(counted: Arc<AtomicU32>) for inner::count, |_: u32, cx| {
    goto!(cx, inner::stop, counted.fetch_add(1, Ordering::SeqCst) + 1)
});
logic!(Stop(cancel: CancelToken) for inner::stop, |count: u32, cx| {
    if cx.restarts() == 0 {
        cancel.suspend();
        std::future::pending::<()>().await;
    }
    goto!(cx, inner::exit, count)
});

/// The child of an interrupted execution goes on; a later entry has another child.
#[tokio::test(start_paused = true)]
async fn a_child_is_resumed_with_its_parent() {
    let (counted, journal): (Arc<AtomicU32>, Arc<MemoryJournal>) = Default::default();
    let outer = |cancel: &CancelToken| {
        let inner = Inner { count: LogicNode(Count(counted.clone())), stop: LogicNode(Stop(cancel.clone())) };
        let graph = Outer { inner: GraphNode(inner), again: LogicNode(Again) };
        timed(graph).with_journal(journal.clone()).with_cancel(cancel.clone())
    };
    let cancel = CancelToken::new();
    assert_eq!(outer(&cancel).start(0).await.unwrap().outcome, Outcome::Suspended);
    for begun in [1, 2] {
        let children = journal.children(&RunId::DEFAULT).await.unwrap();
        assert_eq!((children.len(), counted.load(Ordering::SeqCst)), (begun, u32::try_from(begun).unwrap()));
        let cancel = CancelToken::new();
        let outcome = outer(&cancel).resume().await.unwrap().outcome;
        assert_eq!(outcome, if begun == 1 { Outcome::Suspended } else { Outcome::Finished(2) });
    }
}

/// A run that failed in a child goes on in that child when it is retried.
#[tokio::test(start_paused = true)]
async fn a_retried_run_retries_its_child() {
    let (reads, journal): (Arc<AtomicU32>, Arc<MemoryJournal>) = Default::default();
    let failure = failed(press(&reads).with_journal(journal.clone()).start(String::new()).await.unwrap());
    let again = failed(press(&reads).with_journal(journal.clone()).retry().await.unwrap());
    assert_eq!(again, failure);
    assert_eq!(reads.load(Ordering::SeqCst), 1, "what the child had done is not done again");
    assert_eq!(journal.children(&RunId::DEFAULT).await.unwrap().len(), 1);
}

#[derive(Graph)]
#[graph(output = ())]
struct Long {
    #[node(entry, input = (), goto(exit))]
    wait: LogicNode<Wait>,
}
#[derive(Graph)]
#[graph(output = ())]
struct Around {
    #[node(entry, input = (), graph = Long, goto(exit))]
    long: GraphNode<Long>,
}
logic!(Wait(cancel: CancelToken) for long::wait, |(): (), cx| {
    cancel.cancel();
    std::future::pending::<()>().await;
    goto!(cx, long::exit, ())
});

/// Cancelling a run cancels the child of its graph node.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_ends_its_child() {
    let (cancel, journal) = (CancelToken::new(), Arc::new(MemoryJournal::new()));
    let graph = Around { long: GraphNode(Long { wait: LogicNode(Wait(cancel.clone())) }) };
    let run = timed(graph).with_cancel(cancel).with_journal(journal.clone());
    assert_eq!(run.start(()).await.unwrap().outcome, Outcome::Cancelled);
    let children = journal.children(&RunId::DEFAULT).await.unwrap();
    assert_eq!(children.iter().map(|child| child.ended.is_some()).collect::<Vec<_>>(), [true]);
}

/// A graph has the tables of all graphs below it, and counts a child's calls once for each execution.
#[test]
fn a_graph_node_counts_what_its_child_can_do() {
    use interlocking::graph::Graph;
    let nets = interlocking::net::Nets::of::<Press>();
    let names: Vec<_> = nets.iter().map(|net| net.table().graph.as_str()).collect();
    assert_eq!(names, ["Press", "Review"]);
    assert_eq!(Press::AGENT_CALLS.at_most, Some(0));
    assert_eq!(Digger::AGENT_CALLS.at_most, None, "it runs itself");
    let drawn = interlocking::draw::mermaid(Press::net().table());
    assert!(drawn.contains("runs Review"), "{drawn}");
}

/// A graph that runs itself under another name, and two that run each other: none says how deep.
type Another = Mirror;
#[derive(Graph)]
#[graph(output = ())]
struct Mirror {
    #[node(entry, input = (), map = Another, goto(exit))]
    mirrors: MapNode<NoChild>,
}
#[derive(Graph)]
#[graph(output = ())]
struct Ping {
    #[node(entry, input = (), map = Pong, goto(exit))]
    pongs: MapNode<NoChild>,
}
#[derive(Graph)]
#[graph(output = ())]
struct Pong {
    #[node(entry, input = (), map = Ping, goto(exit))]
    pings: MapNode<NoChild>,
}
struct NoChild;

macro_rules! no_child {
    ($($graph:ident::$node:ident runs $child:ident { $children:ident };)*) => {$(
        impl MapHandler<$graph::$node> for NoChild {
            fn graph(&self, _: &Cx<'_, $graph::$node>) -> Result<Arc<$child>, NodeError> {
                Ok(Arc::new($child { $children: MapNode(NoChild) }))
            }
            async fn items(&self, _: &(), _: &mut Cx<'_, $graph::$node>) -> Result<Vec<Item<$child>>, NodeError> {
                Ok(Vec::new())
            }
            async fn gather(&self, _: (), _: Children<$child>, cx: &mut Cx<'_, $graph::$node>) -> Route<$graph::$node> {
                goto!(cx, $graph::exit, ())
            }
        }
    )*};
}
no_child! {
    mirror::mirrors runs Mirror { mirrors };
    ping::pongs runs Pong { pings };
    pong::pings runs Ping { pongs };
}

#[tokio::test(start_paused = true)]
async fn recursion_that_the_derive_does_not_see_needs_a_depth_when_a_run_starts() {
    let mirror = Run::new(Mirror { mirrors: MapNode(NoChild) }).start(()).await.unwrap_err();
    let ping = Run::new(Ping { pongs: MapNode(NoChild) }).start(()).await.unwrap_err();
    for (error, way) in [(mirror, "`mirrors` of `Mirror`"), (ping, "`pongs` of `Ping` → `pings` of `Pong`")] {
        assert_eq!(
            error.to_string(),
            format!(
                "a graph runs itself here, and could do so for ever: {way}\n\
                 say at one of these nodes how many runs deep its children may nest, `depth = 3`"
            )
        );
    }
}
