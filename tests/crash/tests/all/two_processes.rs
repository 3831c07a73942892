//! Two processes that want one run.

use crate::case::{Case, said};
use crate::past::Past;
use crate::verdict;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::Entry;
use interlocking_crash::order::Presence;
use interlocking_crash::process::root;
use std::time::{Duration, Instant};

#[tokio::test]
async fn the_second_is_refused_and_takes_over_at_once_when_the_first_was_killed() {
    let mut case = Case::new();
    let mut first = case.spawn(None, Presence::Awaited);
    let journal = case.journal();
    let started = Instant::now();
    // The root has nothing left to do but to wait for its children.
    let is_under_way = |entry: &Entry| matches!(entry, Entry::Report { by, .. } if by.node == "spell");
    while !journal.load(&root().unwrap()).await.unwrap().iter().any(|record| is_under_way(&record.entry)) {
        assert!(started.elapsed() < Duration::from_secs(50), "{}", case.account());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }

    let before = journal.load(&root().unwrap()).await.unwrap();
    let mut second = case.spawn(None, Presence::Away);
    assert_eq!(second.wait().unwrap().code(), Some(1));
    let (nothing, why) = said(&mut second);
    let refusal = format!("run `gazette` is being executed by process {} on ", first.id());
    assert!(nothing.is_empty() && why.contains(&refusal), "{nothing}{why}");
    assert_eq!(journal.load(&root().unwrap()).await.unwrap(), before, "and has changed nothing");
    verdict::on_a_process(&case, 1, &Past::of(&*journal).await).await;

    first.kill().unwrap();
    first.wait().unwrap();
    case.settle(Presence::Here).await;
}
