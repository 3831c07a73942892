//! Handlers that fail: the run ends, gives the reason, and leaves nothing running.

use crate::support::{Dropped, Log, both_ways, failed, pass, timed};
use interlocking::failure::Failure;
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{MemoryJournal, Outcome};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The result of a graph for its caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Verdict {
    Fine,
    Broken(Failure),
}

impl From<Failure> for Verdict {
    fn from(failure: Failure) -> Self {
        Self::Broken(failure)
    }
}

#[derive(Debug)]
struct Outer(std::io::Error);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the plan cannot be read")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[derive(Graph)]
#[graph(output = Verdict)]
struct Fragile {
    /// One branch alone, or two at once.
    #[node(entry, input = String, goto(first), fork(first, second))]
    split: LogicNode<Split>,
    #[node(input = String, goto(exit, cancels(second)))]
    first: LogicNode<First>,
    #[node(input = String, goto(exit, cancels(first)))]
    second: LogicNode<Second>,
}

/// A latched slot's value is copied whenever its join fires.
#[derive(Graph)]
#[graph(output = ())]
struct Latching {
    #[node(entry, input = (), fork(again, part))]
    split: ForkNode<Part>,
    #[node(input = (), goto(gate), visits = 2)]
    again: LogicNode<Again>,
    #[node(input = (), goto(gate))]
    part: LogicNode<Make>,
    #[node(join(again: (), part: Uncopied latched), goto(exit))]
    gate: JoinNode<Gate>,
}

/// A value whose copying panics.
#[derive(Serialize, Deserialize)]
struct Uncopied;

impl Clone for Uncopied {
    fn clone(&self) -> Self {
        panic!("there is only one")
    }
}

held!(Fragile, Latching);

forks!(Part for latching::split, |_: (), cx| fork!(cx, ((), ())));
logic!(Again for latching::again, |_: (), cx| goto!(cx, latching::gate, ()));
logic!(Make for latching::part, |_: (), cx| goto!(cx, latching::gate, Uncopied));
joins!(Gate for latching::gate, |(_, _): ((), Uncopied), cx| goto!(cx, latching::exit, ()));

logic!(Split for fragile::split, |how: String, cx| match how.strip_prefix("beside ") {
    Some(how) => fork!(cx, (how.into(), how.into())),
    None => goto!(cx, fragile::first, how),
});
logic!(First(dropped: Dropped) for fragile::first, |how: String, cx| {
    let _guard = dropped.guard();
    match how.as_str() {
        "panic at once" => panic!("the plan is missing"),
        "panic late" => {
            pass(10).await;
            panic!("step {} of {how}", 2)
        }
        "panic with a value" => std::panic::panic_any(7),
        "error" => Err(Outer(std::io::Error::other("no such file")))?,
        "error late" => {
            pass(10).await;
            Err("nothing came back")?
        }
        "configuration" => {
            cx.input_of::<fragile::second>()?;
        }
        _ => {}
    }
    goto!(cx, fragile::exit, Verdict::Fine)
});
logic!(Second(dropped: Dropped) for fragile::second, |_: String, cx| {
    let _guard = dropped.guard();
    pass(1_000_000).await;
    goto!(cx, fragile::exit, Verdict::Fine)
});

fn fragile(first: &Dropped, second: &Dropped) -> Fragile {
    Fragile {
        split: LogicNode(Split),
        first: LogicNode(First(first.clone())),
        second: LogicNode(Second(second.clone())),
    }
}

async fn failures(how: &str) -> Vec<Failure> {
    let dropped = Dropped::default();
    let mut failures = Vec::new();
    for run in both_ways(|| fragile(&dropped, &dropped)) {
        failures.push(failed(run.start(how.to_owned()).await.unwrap()));
    }
    failures
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_with_its_message() {
    for (how, message) in [
        ("panic at once", "the plan is missing"),
        ("panic late", "step 2 of panic late"),
        ("panic with a value", "no message"),
        ("beside panic at once", "the plan is missing"),
        ("beside panic late", "step 2 of panic late"),
    ] {
        for failure in failures(how).await {
            assert_eq!(failure.kind, FailureKind::Panic, "{how}");
            assert_eq!(failure.to_string(), format!("node `first` panicked: {message}"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_latched_value_that_cannot_be_copied_is_a_failure_of_its_join() {
    let graph =
        || Latching { split: ForkNode(Part), again: LogicNode(Again), part: LogicNode(Make), gate: JoinNode(Gate) };
    for run in both_ways(graph) {
        let log = Log::new();
        let failure = failed(run.with_events(log.sink()).start(()).await.unwrap());
        assert_eq!(
            (&failure.kind, &*failure.to_string()),
            (&FailureKind::Panic, "node `gate` panicked: there is only one")
        );
        let lines = log.lines();
        assert!(!lines.contains("started gate") && lines.contains("ended failed"), "{lines}");
    }
    let journal = Arc::new(MemoryJournal::new());
    failed(timed(graph()).with_journal(journal.clone()).start(()).await.unwrap());
    let last = journal.records(&RunId::DEFAULT).pop().unwrap();
    assert!(matches!(last.entry, Entry::Ended { failure: Some(_), .. }), "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn an_error_is_a_failure_with_its_causes() {
    for how in ["error", "beside error"] {
        for failure in failures(how).await {
            assert_eq!(failure.kind, FailureKind::Handler);
            assert_eq!(failure.message, "the plan cannot be read");
            assert_eq!(failure.causes, ["no such file"]);
            assert_eq!(failure.to_string(), "node `first` failed: the plan cannot be read\n  caused by: no such file");
        }
    }
}

/// A missing part of the configuration is distinguished from a mistake of a handler.
#[tokio::test(start_paused = true)]
async fn an_error_of_the_context_is_a_failure_of_configuration() {
    for failure in failures("configuration").await {
        assert_eq!(failure.kind, FailureKind::Configuration);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_stops_the_branches_beside_it() {
    for how in ["beside panic late", "beside error late"] {
        let (first, second) = (Dropped::default(), Dropped::default());
        for run in both_ways(|| fragile(&first, &second)) {
            let log = Log::new();
            let report = run.with_events(log.sink()).start(how.to_owned()).await.unwrap();
            assert_eq!(report.took.as_millis(), 10, "the run waits for nobody");
            assert!(first.happened() && second.happened());
            let lines = log.lines();
            assert_eq!(lines.matches("failed first").count(), 1, "{lines}");
            assert_eq!(lines.matches("cancelled second").count(), 1, "{lines}");
            assert_eq!(lines.matches("cancelled first").count(), 0, "what failed was not cancelled besides: {lines}");
            assert!(lines.ends_with("ended failed: $0.00 in 0 calls, 0 tokens in, 0 tokens out\n"), "{lines}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_may_become_the_graphs_output() {
    let dropped = Dropped::default();
    let report = timed(fragile(&dropped, &dropped)).start("error late".to_owned()).await.unwrap();
    let Outcome::Failed(failure) = report.outcome.clone() else { panic!("{:?}", report.outcome) };
    assert_eq!(report.outcome.name(), "failed");
    assert_eq!(report.outcome.into_output(), Some(Verdict::Broken(failure)));
    let report = timed(fragile(&dropped, &dropped)).start("well".to_owned()).await.unwrap();
    assert_eq!(report.outcome.into_output(), Some(Verdict::Fine));
}
