//! A run without a journal goes from node to node in one future. What guards a node must hold there too, and name the
//! node that it stands on.

#[macro_use]
#[path = "../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;

use interlocking::failure::FailureKind;
use interlocking::prelude::*;
use interlocking::runtime::{CancelToken, Event, EventKind, Outcome};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the second node does.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
enum Deed {
    Panic,
    Err,
    Wait,
    Return,
    GoRound(u32),
}

#[derive(Graph)]
#[graph(output = u32)]
struct Two {
    #[node(entry, input = Deed, goto(second), visits = 3, timeout = "10s")]
    first: LogicNode<First>,
    #[node(input = Deed, goto(first, exit), timeout = "50ms")]
    second: LogicNode<Second>,
}

struct First;
struct Second;

impl LogicHandler<two::first> for First {
    async fn run(&self, deed: Deed, cx: &mut Cx<'_, two::first>) -> Route<two::first> {
        // The chain waits here once, under the first node's limit.
        tokio::time::sleep(Duration::from_millis(70)).await;
        goto!(cx, two::second, deed)
    }
}

impl LogicHandler<two::second> for Second {
    async fn run(&self, deed: Deed, cx: &mut Cx<'_, two::second>) -> Route<two::second> {
        match deed {
            Deed::Panic => panic!("as asked"),
            Deed::Err => Err("as asked".into()),
            Deed::Wait => std::future::pending().await,
            Deed::Return => goto!(cx, two::exit, cx.visit()),
            Deed::GoRound(0) => goto!(cx, two::exit, cx.visit()),
            Deed::GoRound(left) => goto!(cx, two::first, Deed::GoRound(left - 1)),
        }
    }
}

fn run(deed: Deed, cancel: CancelToken) -> (Outcome<u32>, Vec<String>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink = heard.clone();
    let sink = move |event: Event| {
        let line = match event.kind {
            EventKind::NodeStarted(node) => format!("{} {} starts", node.node, node.visit),
            EventKind::NodeFinished { node, .. } => format!("{} {} finishes", node.node, node.visit),
            EventKind::NodeFailed { node, .. } => format!("{} {} fails", node.node, node.visit),
            _ => return,
        };
        sink.lock().expect("a test's own setup").push(line);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a test's own setup");
    let graph = Two { first: LogicNode(First), second: LogicNode(Second) };
    let run = Run::new(graph).without_journal().with_cancel(cancel).with_events(Arc::new(sink));
    let report = runtime.block_on(run.start(deed)).expect("a test's own setup");
    let heard = heard.lock().expect("a test's own setup").clone();
    (report.outcome, heard)
}

#[test]
fn a_failure_is_that_of_the_node_where_the_chain_stands() {
    let cases = [
        (Deed::Panic, FailureKind::Panic),
        (Deed::Err, FailureKind::Handler),
        // Its own limit, and not what the first node left of another.
        (Deed::Wait, FailureKind::Timeout { limit_ms: 50 }),
    ];
    for (deed, kind) in cases {
        let (outcome, heard) = run(deed, CancelToken::new());
        let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
        assert_eq!((failure.node.as_str(), failure.visit, &failure.kind), ("second", 1, &kind));
        assert_eq!(heard, ["first 1 starts", "first 1 finishes", "second 1 starts", "second 1 fails"], "{kind:?}");
    }
}

#[test]
fn a_chain_finishes_and_counts() {
    assert_eq!(run(Deed::Return, CancelToken::new()).0, Outcome::Finished(1));
    let (outcome, heard) = run(Deed::GoRound(2), CancelToken::new());
    assert_eq!(outcome, Outcome::Finished(3));
    assert_eq!(heard.len(), 12, "two events for each of six executions: {heard:?}");
    assert_eq!(heard[8..10], ["first 3 starts", "first 3 finishes"]);
}

#[test]
fn a_chain_keeps_the_bounds_of_the_table() {
    let (outcome, _) = run(Deed::GoRound(3), CancelToken::new());
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    assert_eq!((failure.node.as_str(), failure.visit), ("first", 4));
    assert!(matches!(failure.kind, FailureKind::Exhausted(_)), "{failure:?}");
}

#[test]
fn a_chain_is_cancelled_before_it_begins_and_while_it_waits() {
    let cancel = CancelToken::new();
    cancel.cancel();
    assert_eq!(run(Deed::Return, cancel).0, Outcome::Cancelled);

    let cancel = CancelToken::new();
    let later = cancel.clone();
    let asks = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        later.cancel();
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a test's own setup");
    let graph = Slow { wait: LogicNode(Wait) };
    let report =
        runtime.block_on(Run::new(graph).without_journal().with_cancel(cancel).start(())).expect("a test's own setup");
    asks.join().expect("a test's own setup");
    assert_eq!(report.outcome, Outcome::Cancelled);
}

#[derive(Graph)]
#[graph(output = ())]
struct Slow {
    #[node(entry, input = (), goto(exit))]
    wait: LogicNode<Wait>,
}

held!(Two, Slow);

struct Wait;

impl LogicHandler<slow::wait> for Wait {
    async fn run(&self, (): (), _: &mut Cx<'_, slow::wait>) -> Route<slow::wait> {
        std::future::pending().await
    }
}
