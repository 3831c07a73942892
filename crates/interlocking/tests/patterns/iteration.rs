//! Repetition: patterns 10, 21 and 22.

use crate::trace::{Trace, played};
use interlocking::prelude::*;

/// The path of a run, node by node.
type Way = Vec<String>;

fn way(nodes: &str) -> Way {
    nodes.split_whitespace().rev().map(str::to_owned).collect()
}

/// A cycle that is entered at two nodes, and left at two others.
#[derive(Graph)]
#[graph(output = ())]
struct ArbitraryCycles {
    #[node(entry, input = Way, goto(draft, check))]
    start: LogicNode<Start>,
    #[node(input = Way, goto(check), visits = 4)]
    draft: LogicNode<Draft>,
    #[node(input = Way, goto(revise, print))]
    check: LogicNode<Check>,
    #[node(input = Way, goto(draft, print))]
    revise: LogicNode<Revise>,
    #[node(input = Way, goto(exit))]
    print: LogicNode<Print>,
}
logic!(Start for arbitrary_cycles::start, |way: Way, cx| {
    let mut way = way;
    match way.pop().as_deref() {
        Some("draft") => goto!(cx, arbitrary_cycles::draft, way),
        _ => goto!(cx, arbitrary_cycles::check, way),
    }
});
logic!(Draft(trace: Trace) for arbitrary_cycles::draft, |way: Way, cx| {
    trace.works("draft", 1).await;
    let mut way = way;
    way.pop();
    goto!(cx, arbitrary_cycles::check, way)
});
logic!(Check(trace: Trace) for arbitrary_cycles::check, |way: Way, cx| {
    trace.works("check", 1).await;
    let mut way = way;
    match way.pop().as_deref() {
        Some("revise") => goto!(cx, arbitrary_cycles::revise, way),
        _ => goto!(cx, arbitrary_cycles::print, way),
    }
});
logic!(Revise(trace: Trace) for arbitrary_cycles::revise, |way: Way, cx| {
    trace.works("revise", 1).await;
    let mut way = way;
    match way.pop().as_deref() {
        Some("draft") => goto!(cx, arbitrary_cycles::draft, way),
        _ => goto!(cx, arbitrary_cycles::print, way),
    }
});
logic!(Print(trace: Trace) for arbitrary_cycles::print, |_: Way, cx| {
    trace.works("print", 1).await;
    goto!(cx, arbitrary_cycles::exit, ())
});

/// Pattern 10: a cycle with more than one way in, and more than one way out.
#[tokio::test(start_paused = true)]
async fn arbitrary_cycles() {
    for nodes in [
        "check print",
        "draft check print",
        "check revise print",
        "draft check revise print",
        "check revise draft check print",
        "draft check revise draft check revise draft check revise print",
    ] {
        let trace = Trace::new();
        let graph = ArbitraryCycles {
            start: LogicNode(Start),
            draft: LogicNode(Draft(trace.clone())),
            check: LogicNode(Check(trace.clone())),
            revise: LogicNode(Revise(trace.clone())),
            print: LogicNode(Print(trace.clone())),
        };
        let (_, told) = played(&trace, graph, way(nodes)).await;
        let visited: Vec<_> = told.split(", ").map(|span| span.split_once(' ').unwrap().0).collect();
        assert_eq!(visited.join(" "), nodes);
    }
}

/// `while`: tested before each round.
#[derive(Graph)]
#[graph(output = u32)]
struct WhileLoop {
    #[node(entry, input = u32, goto(page, exit))]
    is_left: LogicNode<IsLeft>,
    #[node(input = u32, goto(is_left), visits = 5)]
    page: LogicNode<Page>,
}
logic!(IsLeft for while_loop::is_left, |left: u32, cx| {
    if left > 0 { goto!(cx, while_loop::page, left) } else { goto!(cx, while_loop::exit, left) }
});
logic!(Page(trace: Trace) for while_loop::page, |left: u32, cx| {
    trace.works("page", 1).await;
    goto!(cx, while_loop::is_left, left - 1)
});

/// `repeat … until`: tested after each round.
#[derive(Graph)]
#[graph(output = u32)]
struct RepeatLoop {
    #[node(entry, input = u32, goto(try_it, exit), attempts = 3)]
    try_it: LogicNode<TryIt>,
}
logic!(TryIt(trace: Trace) for repeat_loop::try_it, |left: u32, cx| {
    trace.works("try", 1).await;
    if left > 1 { goto!(cx, self, left - 1) } else { goto!(cx, repeat_loop::exit, cx.attempt()) }
});

/// Pattern 21: a structured loop, tested before or after.
#[tokio::test(start_paused = true)]
async fn structured_loop() {
    let rounds = |told: &str| if told.is_empty() { 0 } else { told.split(", ").count() };
    for left in 0..=4 {
        let trace = Trace::new();
        let graph = WhileLoop { is_left: LogicNode(IsLeft), page: LogicNode(Page(trace.clone())) };
        let (output, told) = played(&trace, graph, left).await;
        assert_eq!((output, rounds(&told)), (0, left as usize));
    }
    for (left, times) in [(0, 1), (1, 1), (3, 3)] {
        let trace = Trace::new();
        let graph = RepeatLoop { try_it: LogicNode(TryIt(trace.clone())) };
        let (output, told) = played(&trace, graph, left).await;
        assert_eq!((output, rounds(&told)), (times, times as usize), "at least once");
    }
}

/// Sorts a list by sorting its halves at the same time, each with the same graph.
#[derive(Graph)]
#[graph(output = Vec<u32>)]
struct Recursion {
    #[node(entry, input = Vec<u32>, goto(exit), fork(low, high))]
    part: LogicNode<Part>,
    #[node(input = Vec<u32>, graph = Recursion, depth = 5, goto(whole))]
    low: GraphNode<Half>,
    #[node(input = Vec<u32>, graph = Recursion, depth = 5, goto(whole))]
    high: GraphNode<Half>,
    #[node(join(low: Vec<u32>, high: Vec<u32>), goto(exit))]
    whole: JoinNode<Whole>,
}
logic!(Part(trace: Trace) for recursion::part, |list: Vec<u32>, cx| {
    trace.works(format!("{}@{}", list.len(), cx.depth()), 1).await;
    if list.len() < 2 {
        return goto!(cx, recursion::exit, list);
    }
    let (low, high) = list.split_at(list.len() / 2);
    fork!(cx, (low.to_vec(), high.to_vec()))
});
struct Half;
macro_rules! halves {
    ($($half:ident),+) => { $(
        impl GraphHandler<recursion::$half> for Half {
            fn graph(&self, cx: &Cx<'_, recursion::$half>) -> Result<std::sync::Arc<Recursion>, NodeError> {
                Ok(cx.own_graph()?)
            }
            async fn entry(
                &self,
                list: &Vec<u32>,
                _: &mut Cx<'_, recursion::$half>,
            ) -> Result<Vec<u32>, NodeError> {
                Ok(list.clone())
            }
            async fn after(
                &self,
                _: Vec<u32>,
                sorted: Vec<u32>,
                cx: &mut Cx<'_, recursion::$half>,
            ) -> Route<recursion::$half> {
                goto!(cx, recursion::whole, sorted)
            }
        }
    )+ };
}
halves!(low, high);
joins!(Whole for recursion::whole, |(low, high): (Vec<u32>, Vec<u32>), cx| {
    let mut both = [low, high].concat();
    both.sort_unstable();
    goto!(cx, recursion::exit, both)
});

/// Pattern 22: a graph that runs itself, as deep as its input requires.
#[tokio::test(start_paused = true)]
async fn recursion() {
    let trace = Trace::new();
    let graph = Recursion {
        part: LogicNode(Part(trace.clone())),
        low: GraphNode(Half),
        high: GraphNode(Half),
        whole: JoinNode(Whole),
    };
    let (sorted, told) = played(&trace, graph, vec![4, 2, 6, 1, 3, 5]).await;
    assert_eq!(sorted, [1, 2, 3, 4, 5, 6]);
    let sizes = "6@0 0–1, 3@1 1–2, 3@1 1–2, 1@2 2–3, 2@2 2–3, 1@2 2–3, 2@2 2–3, 1@3 3–4, 1@3 3–4, 1@3 3–4, 1@3 3–4";
    assert_eq!(told, sizes, "halves at once, three runs deep");
}

held!(ArbitraryCycles, WhileLoop, RepeatLoop, Recursion);
