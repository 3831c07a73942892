//! `timeout = "…"`: how long one execution may take.

use crate::support::{Dropped, Log, both_ways, failed, finished, pass};
use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = u64)]
struct Clockwork {
    /// Without a limit.
    #[node(entry, input = u64, goto(limited), fork(limited, beside), visits = 4)]
    free: LogicNode<Free>,
    #[node(input = u64, goto(free, cancels(beside)), goto(exit, cancels(beside)), timeout = "2s", visits = 4)]
    limited: LogicNode<Limited>,
    #[node(input = u64, goto(exit, cancels(limited)))]
    beside: LogicNode<Beside>,
}

logic!(Free for clockwork::free, |milliseconds: u64, cx| {
    pass(3_600_000).await;
    match milliseconds {
        ..10_000 => goto!(cx, clockwork::limited, milliseconds),
        _ => fork!(cx, (milliseconds - 10_000, 0)),
    }
});
logic!(Limited(dropped: Dropped) for clockwork::limited, |milliseconds: u64, cx| {
    let _guard = dropped.guard();
    pass(milliseconds).await;
    match cx.visit() {
        1 => goto!(cx, clockwork::free, milliseconds),
        _ => goto!(cx, clockwork::exit, milliseconds),
    }
});
logic!(Beside(dropped: Dropped) for clockwork::beside, |_: u64, cx| {
    let _guard = dropped.guard();
    pass(7_200_000).await;
    goto!(cx, clockwork::exit, 0)
});

fn clockwork(limited: &Dropped, beside: &Dropped) -> Clockwork {
    Clockwork {
        free: LogicNode(Free),
        limited: LogicNode(Limited(limited.clone())),
        beside: LogicNode(Beside(beside.clone())),
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_takes_longer_than_its_timeout_fails_the_run() {
    let (limited, beside) = (Dropped::default(), Dropped::default());
    for run in both_ways(|| clockwork(&limited, &beside)) {
        let log = Log::new();
        let report = run.with_events(log.sink()).start(2_001).await.unwrap();
        assert_eq!(report.took.as_millis(), 3_602_000, "stopped at its limit, not when it would have ended");
        let failure = failed(report);
        assert_eq!(failure.kind, FailureKind::Timeout { limit_ms: 2000 });
        assert_eq!(failure.to_string(), "node `limited` took longer than its timeout of 2s");
        assert_eq!(
            log.line("failed limited 1.1"),
            "3602000 failed limited 1.1 after 2000: took longer than its timeout of 2s"
        );
        assert!(limited.happened(), "what the node was doing is dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_that_of_each_execution() {
    let none = Dropped::default();
    for run in both_ways(|| clockwork(&none, &none)) {
        let report = run.start(1_999).await.unwrap();
        assert_eq!(report.took.as_millis(), 2 * 3_600_000 + 2 * 1_999, "two visits may take longer than one");
        assert_eq!(finished(report), 1_999);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_beside_another_branch_stops_that_too() {
    let (limited, beside) = (Dropped::default(), Dropped::default());
    for run in both_ways(|| clockwork(&limited, &beside)) {
        let log = Log::new();
        let report = run.with_events(log.sink()).start(15_000).await.unwrap();
        assert_eq!(report.took.as_millis(), 3_602_000);
        assert_eq!(failed(report).kind, FailureKind::Timeout { limit_ms: 2000 });
        assert!(limited.happened() && beside.happened());
        assert_eq!(log.line("cancelled beside 1.1"), "3602000 cancelled beside 1.1");
    }
}

#[derive(Graph)]
#[graph(output = u64)]
struct Mined {
    #[node(entry, input = u64, fork(field, beside))]
    start: LogicNode<Start>,
    #[node(input = u64, goto(exit, cancels(beside)), timeout = "2s")]
    field: LogicNode<Field>,
    #[node(input = u64, goto(exit, cancels(field)))]
    beside: LogicNode<Idle>,
}

held!(Clockwork, Mined);

logic!(Start for mined::start, |value: u64, cx| fork!(cx, (value, value)));
logic!(Field for mined::field, |value: u64, cx| {
    let _mine = Mine;
    pass(3_600_000).await;
    goto!(cx, mined::exit, value)
});
logic!(Idle for mined::beside, |value: u64, cx| {
    pass(7_200_000).await;
    goto!(cx, mined::exit, value)
});

/// A value whose drop panics, which happens outside the handler.
struct Mine;

impl Drop for Mine {
    fn drop(&mut self) {
        panic!("stepped on");
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_panics_while_it_is_stopped_fails_the_run() {
    for run in both_ways(|| Mined { start: LogicNode(Start), field: LogicNode(Field), beside: LogicNode(Idle) }) {
        let report = run.start(1).await.unwrap();
        assert_eq!(report.took.as_millis(), 2_000);
        let failure = failed(report);
        assert_eq!(failure.kind, FailureKind::Panic);
        assert_eq!(failure.to_string(), "node `field` panicked: in the drop of a value that its handler held");
    }
}
