//! Stops a run from outside: by request, and by dropping it.

use crate::support::{Dropped, Log, both_ways, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::{CancelToken, MemoryJournal, Outcome};
use std::sync::Arc;
use std::time::Duration;

#[derive(Graph)]
#[graph(output = ())]
struct Patience {
    /// One node alone, or two branches.
    #[node(entry, input = bool, goto(first), fork(first, second))]
    split: LogicNode<Split>,
    #[node(input = (), goto(exit, cancels(second)))]
    first: LogicNode<Forever>,
    #[node(input = (), goto(exit, cancels(first)))]
    second: LogicNode<Forever>,
}

held!(Patience);

logic!(Split(dropped: Dropped) for patience::split, |both: bool, cx| {
    let _guard = dropped.guard();
    match both {
        true => fork!(cx, ((), ())),
        false => goto!(cx, patience::first, ()),
    }
});

struct Forever(Dropped);
impl LogicHandler<patience::first> for Forever {
    async fn run(&self, (): (), _: &mut Cx<'_, patience::first>) -> Route<patience::first> {
        let _guard = self.0.guard();
        std::future::pending().await
    }
}
impl LogicHandler<patience::second> for Forever {
    async fn run(&self, (): (), _: &mut Cx<'_, patience::second>) -> Route<patience::second> {
        let _guard = self.0.guard();
        std::future::pending().await
    }
}

struct Watched {
    split: Dropped,
    first: Dropped,
    second: Dropped,
    log: Log,
}

impl Watched {
    fn new() -> Self {
        let (split, first, second) = Default::default();
        Self { split, first, second, log: Log::new() }
    }

    fn graph(&self) -> Patience {
        Patience {
            split: LogicNode(Split(self.split.clone())),
            first: LogicNode(Forever(self.first.clone())),
            second: LogicNode(Forever(self.second.clone())),
        }
    }
}

/// Requests the stop of a waiting run, after 50 ms.
async fn stopped(run: Run<Patience>, log: &Log, both: bool) -> interlocking::runtime::Report<()> {
    let cancel = CancelToken::new();
    let run = run.with_events(log.sink()).with_cancel(cancel.clone());
    let request = async {
        pass(50).await;
        cancel.cancel();
    };
    tokio::join!(run.start(both), request).0.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_request_stops_a_node_that_is_alone() {
    for journal in [true, false] {
        let watched = Watched::new();
        let [with, without] = both_ways(|| watched.graph());
        let report = stopped(if journal { with } else { without }, &watched.log, false).await;
        assert_eq!(report.outcome, Outcome::Cancelled);
        assert_eq!(report.took.as_millis(), 50);
        assert!(watched.split.happened());
        assert!(watched.first.happened(), "it is dropped where it waits");
        assert_eq!(watched.log.line("cancelled first 1.1"), "50 cancelled first 1.1");
        assert!(watched.log.lines().contains("ended cancelled"), "{}", watched.log.lines());
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_stops_every_branch() {
    for journal in [true, false] {
        let watched = Watched::new();
        let [with, without] = both_ways(|| watched.graph());
        let report = stopped(if journal { with } else { without }, &watched.log, true).await;
        assert_eq!(report.outcome, Outcome::Cancelled);
        assert_eq!(report.took.as_millis(), 50);
        assert!(watched.first.happened() && watched.second.happened());
        assert_eq!(watched.log.line("cancelled first 1.1"), "50 cancelled first 1.1");
        assert_eq!(watched.log.line("cancelled second 1.1"), "50 cancelled second 1.1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_came_before_stops_the_run_before_its_first_node() {
    for journal in [true, false] {
        let watched = Watched::new();
        let [with, without] = both_ways(|| watched.graph());
        let cancel = CancelToken::new();
        cancel.cancel();
        let run = if journal { with } else { without };
        let report = run.with_cancel(cancel).start(false).await.unwrap();
        assert_eq!(report.outcome, Outcome::Cancelled);
        assert!(!watched.split.happened(), "its handler never began");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_says_so_in_its_journal() {
    let (watched, journal) = (Watched::new(), Arc::new(MemoryJournal::new()));
    let report = stopped(timed(watched.graph()).with_journal(journal.clone()), &watched.log, true).await;
    let records = journal.records(&report.run);
    assert_eq!(records.last().unwrap().entry, Entry::Ended { failure: None, cancelled: true, output: None });
}

#[tokio::test(start_paused = true)]
async fn one_request_stops_every_run_that_shares_it() {
    let (one, other, cancel) = (Watched::new(), Watched::new(), CancelToken::new());
    let run = |watched: &Watched, both| timed(watched.graph()).with_cancel(cancel.clone()).start(both);
    let (first, second, ()) = tokio::join!(run(&one, true), run(&other, false), async {
        pass(5).await;
        cancel.cancel();
    });
    assert_eq!(first.unwrap().outcome, Outcome::Cancelled);
    assert_eq!(second.unwrap().outcome, Outcome::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_stops_everything() {
    for both in [false, true] {
        for journal in [true, false] {
            let watched = Watched::new();
            let [with, without] = both_ways(|| watched.graph());
            let run = if journal { with } else { without };
            let started = run.with_events(watched.log.sink()).start(both);
            assert!(tokio::time::timeout(Duration::from_millis(50), started).await.is_err());
            // Branches are tasks: the runtime drops an aborted task when it next polls it.
            tokio::task::yield_now().await;
            assert!(watched.first.happened());
            assert_eq!(watched.second.happened(), both, "it ran only if both did");
            assert!(!watched.log.lines().contains("ended"), "nobody was there to say so");
        }
    }
}
