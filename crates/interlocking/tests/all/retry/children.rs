//! Children of a run that is retried.

use super::*;

/// A failed child goes on at its failed node, and so do its own children; so does the child that was interrupted with the run.
/// Finished work is not repeated, and a cancelled child stays cancelled.
#[tokio::test(start_paused = true)]
async fn children_of_a_map_node_that_failed_go_on_where_they_did() {
    let (world, journal) = (World::ill(&["screw"]), Arc::new(MemoryJournal::new()));
    let run = || timed(Workshop { parts: MapNode(Parts(world.clone())) }).with_journal(journal.clone());
    let names = ["deep", "slow", "fine", "off"].map(str::to_owned).to_vec();
    tokio::time::timeout(Duration::from_millis(5), run().start(names)).await.unwrap_err();
    let children = journal.children(&RunId::DEFAULT).await.unwrap();
    let of = |key: &str| {
        let input = Some(format!("{key:?}").into());
        let is_of = |record: &Record| matches!(&record.entry, Entry::Started { input: known, .. } if known.json() == input.as_ref());
        let named = children.iter().find(|child| is_of(&journal.records(&child.run)[0]));
        named.unwrap().run.clone()
    };
    // Children release their runs a moment later.
    pass(1).await;
    assert!(matches!(stop(&*journal, &of("off")).await.unwrap(), Stop::Cancelled { .. }));
    assert_eq!(world.done().len(), 4, "all have planned");

    let failure = failed(run().resume().await.unwrap());
    assert_eq!(failure.node, "parts");
    assert_eq!(world.done(), ["make deep", "make fine", "plan screw"]);
    let runs = journal.runs().await.unwrap();
    let ends: BTreeSet<_> = runs.iter().map(|run| run.ended.clone().unwrap()).collect();
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), ["cancelled", "failed", "finished"], "{runs:?}");

    assert_eq!(failed(run().retry().await.unwrap()).node, "parts");
    assert!(world.done().is_empty(), "the screw cannot be made yet");
    world.cure("screw");
    // If the process ends during the retry, the next process resumes it.
    tokio::time::timeout(Duration::from_millis(15), run().retry()).await.unwrap_err();
    assert_eq!(world.done(), ["make screw"]);
    let report = run().resume().await.unwrap();
    assert_eq!(finished(report), ["deep", "fine", "no off", "screw", "slow"]);
    assert_eq!(world.done(), ["make slow"]);
    let told = account(&*journal, &RunId::DEFAULT).await.unwrap();
    let mut retried = 0;
    told.each(&mut |run| retried += run.retried);
    // The run itself; twice each the deep one, its screw and the slow one.
    assert_eq!((told.retried, retried), (2, 2 + 3 * 2));
}

/// An error that no retry can fix is reported again.
#[tokio::test(start_paused = true)]
async fn a_bound_that_was_overrun_is_overrun_again() {
    #[derive(Graph)]
    #[graph(output = u32)]
    struct Round {
        #[node(entry, input = u32, goto(go, exit), visits = 2)]
        go: LogicNode<Goes>,
    }
    logic!(Goes for round::go, |input: u32, cx| goto!(cx, self, input + 1));
    let journal = Arc::new(MemoryJournal::new());
    let run = || timed(Round { go: LogicNode(Goes) }).with_journal(journal.clone());
    let first = failed(run().start(1).await.unwrap());
    assert_eq!(failed(run().retry().await.unwrap()), first);
    assert_eq!(failed(run().resume().await.unwrap()), first);
    crate::held::is_held::<Round>(module_path!());
}
