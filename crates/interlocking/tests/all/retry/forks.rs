//! Forks of runs that have failed and were retried.

use super::*;

/// A fork keeps the work, but not the failure and the retry.
#[tokio::test(start_paused = true)]
async fn a_run_that_was_retried_is_forked_as_if_it_had_not_failed() {
    let (world, journal) = (World::ill(&["press"]), Arc::new(MemoryJournal::new()));
    failed(house(&world, &journal).start(3).await.unwrap());
    failed(house(&world, &journal).retry().await.unwrap());
    world.cure("press");
    finished(house(&world, &journal).retry().await.unwrap());
    let most = journal.records(&id("house")).len() as u64 - 1;
    for records in 1..=most {
        let name = id(&format!("f{records}"));
        fork(&*journal, &id("house"), &ForkPoint::Records(records), &name).await.unwrap();
        assert_eq!(finished(house(&world, &journal).with_id(name).resume().await.unwrap()), 107, "after {records}");
    }
    let by = By { node: "press".to_owned(), visit: 1, attempt: 1 };
    let point = ForkPoint::Before { node: by.node, visit: by.visit };
    let forked = fork(&*journal, &id("house"), &point, &id("before")).await.unwrap();
    assert_eq!(forked.records, 2, "before it paid");
}

/// A run can be forked before each listed visit, whether or not the visit left records in the
/// journal.
#[tokio::test(start_paused = true)]
async fn a_run_is_forked_before_every_visit_that_is_listed() {
    for (ill, nodes) in [
        ("press", &["press", "read", "split"][..]),
        ("mail", &["mail", "press", "read", "split"]),
        ("nothing", &["gate", "mail", "press", "read", "split"]),
    ] {
        let (world, journal) = (World::ill(&[ill]), Arc::new(MemoryJournal::new()));
        let (report, ()) = tokio::join!(house(&world, &journal).start(3), async {
            pass(5).await;
            let body = LetterBody::Message { node: "mail".to_owned(), message: "7".into() };
            journal.post(&id("house"), Letter { key: None, body }).await.unwrap();
        });
        let told = account(&*journal, &id("house")).await.unwrap();
        let mut listed: Vec<_> = told.executions.iter().map(|known| known.by.clone()).collect();
        listed.sort();
        assert_eq!(listed.iter().map(|by| by.node.as_str()).collect::<Vec<_>>(), nodes, "{report:?}");
        world.cure(ill);
        for By { node, visit, .. } in listed {
            let name = id(&format!("before-{node}"));
            let point = ForkPoint::Before { node: node.clone(), visit };
            fork(&*journal, &id("house"), &point, &name).await.unwrap();
            world.done();
            let report = house(&world, &journal).with_id(name.clone()).resume().await.unwrap();
            assert_eq!(finished(report), 107, "{node} of {ill}");
            let done = world.done();
            assert!(done.iter().any(|done| done.starts_with(&node)), "{node} of {ill}: {done:?}");
            let point = ForkPoint::Before { node: node.clone(), visit: 2 };
            let refused = fork(&*journal, &id("house"), &point, &id("none")).await.unwrap_err();
            assert_eq!(refused, ForkError::NoVisit { run: id("house"), node, visit: 2 });
        }
    }
}

/// A process that is killed while it makes a fork leaves a name that can be used again.
#[tokio::test(start_paused = true)]
async fn a_fork_that_was_interrupted_is_made_anew() {
    let (world, journal) = (World::ill(&["press"]), Arc::new(MemoryJournal::new()));
    failed(house(&world, &journal).start(3).await.unwrap());
    failed(house(&world, &journal).retry().await.unwrap());
    fork(&*journal, &id("house"), &ForkPoint::End, &id("whole")).await.unwrap();
    let whole: Vec<_> = journal.records(&id("whole")).into_iter().map(|record| record.entry).collect();
    assert!(whole.len() > 2);
    for (written, point) in (1..whole.len()).flat_map(|n| [(n, ForkPoint::End), (n, ForkPoint::Records(1))]) {
        for (sequence, entry) in (0..).zip(whole.iter().take(written).cloned()) {
            journal.append(Record { run: id("part"), sequence, entry }).await.unwrap();
        }
        let expected = if point == ForkPoint::End { whole.len() } else { 1 };
        fork(&*journal, &id("house"), &point, &id("part")).await.unwrap();
        assert_eq!(journal.records(&id("part")).len(), expected, "{point:?} after {written}");
        let taken = fork(&*journal, &id("house"), &point, &id("part")).await.unwrap_err();
        assert_eq!(taken, ForkError::Taken { run: id("part") });
        journal.remove(&id("part")).await.unwrap();
    }
    // A fork that was resumed once is a run like any other.
    for (sequence, entry) in
        (0..).zip(whole.iter().take(1).cloned().chain([Entry::Resumed { table: None, taken_by: None }]))
    {
        journal.append(Record { run: id("part"), sequence, entry }).await.unwrap();
    }
    let taken = fork(&*journal, &id("house"), &ForkPoint::End, &id("part")).await.unwrap_err();
    assert_eq!(taken, ForkError::Taken { run: id("part") });
}
