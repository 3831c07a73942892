//! `goto(x, cancels(…))`: cancelled nodes stop, and leave nothing behind.

use crate::support::{Dropped, Log, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::MemoryJournal;
use interlocking::runtime::journal::Entry;
use std::sync::Arc;

#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Race {
    #[node(entry, input = (u64, u64), fork(hare, tortoise))]
    start: ForkNode<Start>,
    #[node(input = u64, goto(finish, cancels(tortoise)), memory(track: Vec<String>))]
    hare: LogicNode<Hare>,
    #[node(input = u64, goto(finish, cancels(hare)), memory(track: Vec<String>))]
    tortoise: LogicNode<Tortoise>,
    #[node(input = (), goto(exit), memory(track: Vec<String>))]
    finish: LogicNode<Finish>,
}

forks!(Start for race::start, |(hare, tortoise): (u64, u64), cx| fork!(cx, (hare, tortoise)));
logic!(Hare for race::hare, |milliseconds: u64, cx| {
    cx.update_memory(|track| track.push("hare".into()));
    cx.committed("main", "hare");
    pass(milliseconds).await;
    goto!(cx, race::finish, ())
});
logic!(Tortoise(dropped: Dropped) for race::tortoise, |milliseconds: u64, cx| {
    let _guard = dropped.guard();
    cx.update_memory(|track| track.push("tortoise".into()));
    cx.committed("main", "tortoise");
    pass(milliseconds).await;
    goto!(cx, race::finish, ())
});
logic!(Finish for race::finish, |_: (), cx| {
    // Long enough for late outcomes to do harm.
    pass(1_000).await;
    goto!(cx, race::exit, cx.memory())
});

fn race(tortoise: &Dropped) -> Race {
    Race {
        start: ForkNode(Start),
        hare: LogicNode(Hare),
        tortoise: LogicNode(Tortoise(tortoise.clone())),
        finish: LogicNode(Finish),
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_branch_stops_and_its_effects_do_not_count() {
    let (dropped, log, journal) = (Dropped::default(), Log::new(), Arc::new(MemoryJournal::new()));
    let run = timed(race(&dropped)).with_events(log.sink()).with_journal(journal.clone());
    let report = run.start((10, 500)).await.unwrap();
    assert_eq!(report.took.as_millis(), 1_010);
    assert!(dropped.happened());
    assert_eq!(log.line("cancelled tortoise 1.1"), "10 cancelled tortoise 1.1");
    assert!(!log.lines().contains("finished tortoise"), "{}", log.lines());
    let records = journal.records(&report.run);
    let nodes: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Outcome(outcome) => Some(outcome.node.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(nodes, ["start", "hare", "finish"], "nothing of the tortoise is recorded");
    assert_eq!(finished(report), ["hare"], "nor remembered");
}

/// Both end at the same moment: both futures are ready before either outcome is absorbed. One of them wins, and
/// the other's outcome is too late, although aborting the future was no longer possible.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_comes_too_late_is_discarded() {
    let (dropped, log, journal) = (Dropped::default(), Log::new(), Arc::new(MemoryJournal::new()));
    let run = timed(race(&dropped)).with_events(log.sink()).with_journal(journal.clone());
    let report = run.start((10, 10)).await.unwrap();
    let (run, track) = (report.run.clone(), finished(report));
    assert_eq!(track.len(), 1, "{track:?}");
    let loser = if track == ["hare"] { "tortoise" } else { "hare" };
    let lines = log.lines();
    assert_eq!(log.line(&format!("cancelled {loser} 1.1")), format!("10 cancelled {loser} 1.1"));
    assert!(!lines.contains(&format!("finished {loser}")), "{lines}");
    let commits: Vec<_> = journal
        .records(&run)
        .into_iter()
        .filter_map(|record| match record.entry {
            Entry::Outcome(outcome) => Some(outcome.commits),
            _ => None,
        })
        .flatten()
        .map(|commit| commit.id)
        .collect();
    assert_eq!(commits, track, "one commit, the winner's");
}

#[derive(Graph)]
#[graph(output = Vec<u32>)]
struct Restart {
    #[node(entry, input = Vec<u32>, fork(watch, left, right), visits = 3)]
    plan: ForkNode<Plan>,
    /// Looks at the others' work, and restarts everything.
    #[node(input = Vec<u32>, goto(plan, cancels(left, right, both)), goto(both))]
    watch: LogicNode<Watch>,
    #[node(input = u32, goto(both))]
    left: LogicNode<Left>,
    #[node(input = u32, goto(both))]
    right: LogicNode<Right>,
    #[node(join(watch: Vec<u32>, left: u32, right: u32), goto(exit))]
    both: JoinNode<Both>,
}

held!(Race, Restart);

forks!(Plan for restart::plan, |done: Vec<u32>, cx| fork!(cx, (done, cx.visit(), cx.visit())));
logic!(Watch for restart::watch, |done: Vec<u32>, cx| {
    // At this time `left` has filled its slot, and `right` still runs.
    pass(10).await;
    let mut done = done;
    done.push(cx.visit());
    if cx.visit() < 3 { goto!(cx, restart::plan, done) } else { goto!(cx, restart::both, done) }
});
logic!(Left for restart::left, |round: u32, cx| goto!(cx, restart::both, round));
logic!(Right(dropped: Dropped) for restart::right, |round: u32, cx| {
    let _guard = dropped.guard();
    pass(20).await;
    goto!(cx, restart::both, round)
});
joins!(Both for restart::both, |(rounds, left, right): (Vec<u32>, u32, u32), cx| {
    assert_eq!((left, right), (3, 3), "no value of an earlier round is left in the join");
    goto!(cx, restart::exit, rounds)
});

#[tokio::test(start_paused = true)]
async fn a_region_clears_running_nodes_and_filled_slots() {
    let log = Log::new();
    let graph = Restart {
        plan: ForkNode(Plan),
        watch: LogicNode(Watch),
        left: LogicNode(Left),
        right: LogicNode(Right(Dropped::default())),
        both: JoinNode(Both),
    };
    let report = timed(graph).with_events(log.sink()).start(Vec::new()).await.unwrap();
    assert_eq!(report.took.as_millis(), 10 + 10 + 20);
    assert_eq!(report.visits_of("right"), 3);
    assert_eq!(finished(report), [1, 2, 3]);
    assert_eq!(log.line("cancelled right 1.1"), "10 cancelled right 1.1");
    assert_eq!(log.line("cancelled right 2.1"), "20 cancelled right 2.1");
    assert_eq!(log.line("finished right 3.1"), "40 finished right 3.1 to both.right after 20");
    assert!(!log.lines().contains("cancelled left"), "it had ended by itself: {}", log.lines());
}

/// An exit that cancels everything ends a run whatever else is running.
#[tokio::test(start_paused = true)]
async fn an_exit_that_cancels_everything_leaves_nothing() {
    #[derive(Graph)]
    #[graph(output = u32)]
    struct Escape {
        #[node(entry, input = u32, fork(out, on))]
        begin: ForkNode<Begin>,
        #[node(input = u32, goto(exit, cancels(*)))]
        out: LogicNode<Out>,
        #[node(input = u32, goto(exit, cancels(*)))]
        on: LogicNode<On>,
    }
    crate::held::is_held::<Escape>(module_path!());
    forks!(Begin for escape::begin, |number: u32, cx| fork!(cx, (number, number)));
    logic!(Out for escape::out, |number: u32, cx| {
        pass(3).await;
        goto!(cx, escape::exit, number)
    });
    logic!(On(dropped: Dropped) for escape::on, |_: u32, _| {
        let _guard = dropped.guard();
        std::future::pending().await
    });
    let (dropped, log) = (Dropped::default(), Log::new());
    let graph = Escape { begin: ForkNode(Begin), out: LogicNode(Out), on: LogicNode(On(dropped.clone())) };
    let report = timed(graph).with_events(log.sink()).start(7).await.unwrap();
    assert_eq!(report.took.as_millis(), 3);
    assert_eq!(finished(report), 7);
    assert!(dropped.happened());
    assert_eq!(log.line("cancelled on 1.1"), "3 cancelled on 1.1");
}
