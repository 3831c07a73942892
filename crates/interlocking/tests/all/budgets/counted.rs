//! What counts towards a budget: a whole tree of runs, earlier usage, and what a fork has taken over.

use super::*;

#[tokio::test(start_paused = true)]
async fn budgets_are_those_of_the_whole_tree() {
    for (budgets, calls, expected) in [
        (Budgets::unlimited().with_calls(25), 25, BudgetExceeded::Calls { limit: 25, used: 25 }),
        (
            Budgets::unlimited().with_tokens(250).with_concurrency(1),
            25,
            BudgetExceeded::Tokens { limit: 250, used: 250 },
        ),
    ] {
        let (report, agent) = family(budgets, 99).await;
        assert_eq!(used_up(&report), expected);
        assert_eq!(agent.all.load(Ordering::SeqCst), calls);
        assert_eq!(agent.now.load(Ordering::SeqCst), 0, "no call was interrupted");
    }
    // Ten at once: calls that had begun when the limit was reached are finished, and count.
    let (report, agent) = family(Budgets::unlimited().with_tokens(250), 99).await;
    let calls = agent.all.load(Ordering::SeqCst);
    assert!((25..25 + 10).contains(&calls), "{calls}");
    assert_eq!(used_up(&report), BudgetExceeded::Tokens { limit: 250, used: 10 * calls as u64 });
}

/// A resumed run has its earlier usage, with each call counted once, whichever executor made it with whichever allowance.
#[tokio::test(start_paused = true)]
async fn what_was_used_before_counts_once() {
    let (agent, journal) = (Recording::new(WILLING), Arc::new(MemoryJournal::new()));
    let run = || timed(caller()).with_agent("caller", agent.clone()).with_journal(journal.clone());
    let shared = Allowance::new(Budgets::unlimited().with_calls(4), Backoff::default());
    suspended(async |cancel| run().with_allowance(shared.clone()).with_cancel(cancel).start((0, 3)).await.unwrap())
        .await;
    let report = run().with_allowance(shared).resume().await.unwrap();
    assert_eq!(report.usage().calls, 4);
    assert_eq!(finished(report), 3, "the fourth call was the last allowed one");

    // The usage of another executor comes in between.
    let journal = Arc::new(MemoryJournal::new());
    let run = || timed(caller()).with_agent("caller", agent.clone()).with_journal(journal.clone());
    let shared = Allowance::new(Budgets::unlimited().with_calls(5), Backoff::default());
    suspended(async |cancel| run().with_allowance(shared.clone()).with_cancel(cancel).start((0, 4)).await.unwrap())
        .await;
    suspended(async |cancel| run().with_cancel(cancel).resume().await.unwrap()).await;
    let report = run().with_allowance(shared).resume().await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 5, used: 5 });
}

/// A run of the same name in another journal is another run, and its usage is separate.
#[tokio::test(start_paused = true)]
async fn runs_of_one_name_are_counted_apart() {
    let agent = Recording::new(WILLING);
    let run = |journal: &Arc<MemoryJournal>| {
        timed(caller()).with_agent("caller", agent.clone()).with_journal(journal.clone())
    };
    let shared = Allowance::new(Budgets::unlimited().with_calls(7), Backoff::default());
    let [one, other] = [(); 2].map(|()| Arc::new(MemoryJournal::new()));
    finished(run(&one).with_allowance(shared.clone()).start((0, 2)).await.unwrap());
    suspended(async |cancel| {
        run(&other).with_allowance(shared.clone()).with_cancel(cancel).start((0, 4)).await.unwrap()
    })
    .await;
    suspended(async |cancel| run(&other).with_cancel(cancel).resume().await.unwrap()).await;
    let report = run(&other).with_allowance(shared).resume().await.unwrap();
    assert_eq!(
        used_up(&report),
        BudgetExceeded::Calls { limit: 7, used: 7 },
        "two of the one, and four of the other before"
    );
}

/// Calls that a fork has taken over count once, in whichever order the two runs are resumed; the same holds for a fork of a
/// fork.
#[tokio::test(start_paused = true)]
async fn what_a_fork_has_taken_over_counts_once() {
    for (within, order) in [false, true].into_iter().flat_map(|within| {
        [["run", "fork", "again"], ["again", "fork", "run"], ["fork", "run", "again"]].map(|order| (within, order))
    }) {
        let (agent, journal) = (Recording::new(WILLING), Arc::new(MemoryJournal::new()));
        let run = |name: &str| {
            let id: RunId = name.parse().unwrap();
            timed(caller()).with_agent("caller", agent.clone()).with_journal(journal.clone()).with_id(id)
        };
        let forked = async |of: &str, outcomes: usize, new: &str| {
            let of: RunId = of.parse().unwrap();
            let records = journal.records(&of).into_iter();
            let mut points = records.filter(|it| matches!(it.entry, Entry::Outcome(_))).map(|it| it.sequence + 1);
            let point = ForkPoint::Records(points.nth(outcomes - 1).unwrap());
            fork(&*journal, &of, &point, &new.parse().unwrap()).await.unwrap();
        };
        let shared = Allowance::new(Budgets::unlimited().with_calls(6), Backoff::default());
        let first = |run: Run<Caller>| if within { run.with_allowance(shared.clone()) } else { run };
        finished(first(run("run")).start((0, 3)).await.unwrap());
        forked("run", 1, "fork").await;
        finished(first(run("fork")).resume().await.unwrap());
        // It has one call from each of the two runs, and makes one itself.
        forked("fork", 2, "again").await;
        for name in order {
            let report = run(name).with_allowance(shared.clone()).resume().await.unwrap();
            assert_eq!(report.outcome, Outcome::Finished(3), "{name} of {order:?}, within: {within}");
        }
        let one_more = run("one-more").with_allowance(shared).start((0, 1)).await.unwrap();
        assert_eq!(used_up(&one_more), BudgetExceeded::Calls { limit: 6, used: 6 }, "{order:?}, within: {within}");
    }
}

/// A removed name that is used again belongs to another run: the calls that a fork of the first has taken over are then its own.
#[tokio::test(start_paused = true)]
async fn a_fork_has_nothing_of_a_run_that_only_has_the_name_of_its_origin() {
    let (agent, journal) = (Recording::new(WILLING), Arc::new(MemoryJournal::new()));
    let run = |name: &str| {
        let id: RunId = name.parse().unwrap();
        timed(caller()).with_agent("caller", agent.clone()).with_journal(journal.clone()).with_id(id)
    };
    let shared = Allowance::new(Budgets::unlimited().with_calls(8), Backoff::default());
    finished(run("run").start((0, 3)).await.unwrap());
    // The fork has begun, has called once, and has gone on.
    let point = ForkPoint::Before { node: "call".to_owned(), visit: 2 };
    fork(&*journal, &"run".parse().unwrap(), &point, &"fork".parse().unwrap()).await.unwrap();
    journal.remove(&"run".parse().unwrap()).await.unwrap();
    finished(run("run").with_allowance(shared.clone()).start((0, 5)).await.unwrap());
    assert_eq!(finished(run("fork").with_allowance(shared.clone()).resume().await.unwrap()), 3);
    let one_more = run("one-more").with_allowance(shared).start((0, 1)).await.unwrap();
    assert_eq!(used_up(&one_more), BudgetExceeded::Calls { limit: 8, used: 8 });
}

/// A run is removed, and made again as a fork of its own fork.
#[tokio::test(start_paused = true)]
async fn runs_that_are_forks_of_each_other_are_resumed() {
    for name in ["run", "fork"] {
        let (agent, journal) = (Recording::new(WILLING), Arc::new(MemoryJournal::new()));
        let run = |name: &str| {
            let id: RunId = name.parse().unwrap();
            timed(caller()).with_agent("caller", agent.clone()).with_journal(journal.clone()).with_id(id)
        };
        let [one, other]: [RunId; 2] = ["run", "fork"].map(|name| name.parse().unwrap());
        finished(run("run").start((0, 3)).await.unwrap());
        let point = ForkPoint::Before { node: "call".to_owned(), visit: 2 };
        fork(&*journal, &one, &point, &other).await.unwrap();
        journal.remove(&one).await.unwrap();
        fork(&*journal, &other, &ForkPoint::End, &one).await.unwrap();
        let budgets = Budgets::unlimited().with_calls(2);
        let report = run(name).with_budgets(budgets).resume().await.unwrap();
        assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 2, used: 2 }, "one before, and one since");
        let budgets = Budgets::unlimited().with_calls(3);
        assert_eq!(finished(run(name).with_budgets(budgets).resume().await.unwrap()), 3);
    }
}

/// A run that shares an allowance may not have budgets of its own.
#[tokio::test(start_paused = true)]
async fn budgets_after_a_shared_allowance_are_refused() {
    let shared = Allowance::new(Budgets::unlimited().with_calls(2), Backoff::default());
    let budgets = Budgets::unlimited().with_calls(9);
    for run in both_ways(caller) {
        let run = run.with_agent("caller", Recording::new(WILLING)).with_allowance(shared.clone());
        assert_eq!(
            run.with_budgets(budgets).start((0, 1)).await.unwrap_err().to_string(),
            "run `run` shares an allowance, and was given budgets of its own after that: give them to the allowance that it \
             shares, `Allowance::new(budgets, backoff)`"
        );
    }
    for run in both_ways(caller) {
        let run = run.with_agent("caller", Recording::new(WILLING)).with_allowance(shared.clone());
        let refused = run.with_backoff(Backoff::default()).with_budgets(budgets).start((0, 1)).await.unwrap_err();
        assert_eq!(refused, StartError::SharedAllowance { run: RunId::DEFAULT, what: "a backoff" });
    }
    let run = timed(caller()).with_agent("caller", Recording::new(WILLING)).with_budgets(budgets);
    let report = run.with_backoff(Backoff::default()).with_allowance(shared).start((0, 3)).await.unwrap();
    assert_eq!(used_up(&report), BudgetExceeded::Calls { limit: 2, used: 2 }, "in place of its own");
}
