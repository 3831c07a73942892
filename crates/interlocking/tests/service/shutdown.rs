//! What a process leaves when it ends, and what the next process resumes.

use crate::{Measuring, SECOND, answer, id, measuring, output, service};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, Record};
use interlocking::runtime::service::{ServiceError, Started};
use interlocking::runtime::{EventKind, MemoryJournal};
use serde_json::json;
use std::sync::Arc;

#[derive(Graph, Default)]
#[graph(output = u32)]
struct Passing {
    #[node(entry, input = u32, goto(exit))]
    pass: LogicNode<Pass>,
}

/// Has an adviser who takes longer than the run.
#[derive(Graph, Default)]
#[graph(output = u32)]
struct Advised {
    #[node(entry, input = u32, goto(exit), spawn(advise))]
    begin: LogicNode<Begin>,
    #[node(input = u32, report = u32, reports_to(exit), visits = 1)]
    advise: AdvisoryNode<Advise>,
}
held!(Passing, Advised);

#[derive(Default)]
struct Pass;
impl LogicHandler<passing::pass> for Pass {
    async fn run(&self, number: u32, cx: &mut Cx<'_, passing::pass>) -> Route<passing::pass> {
        tokio::time::sleep(10 * SECOND).await;
        goto!(cx, passing::exit, number)
    }
}

#[derive(Default)]
struct Begin;
impl LogicHandler<advised::begin> for Begin {
    async fn run(&self, number: u32, cx: &mut Cx<'_, advised::begin>) -> Route<advised::begin> {
        cx.spawn::<advised::advise>(number);
        goto!(cx, advised::exit, number)
    }
}

#[derive(Default)]
struct Advise;
impl AdvisoryHandler<advised::advise> for Advise {
    async fn advise(&self, number: u32, _: &mut Cx<'_, advised::advise>) -> Result<u32, NodeError> {
        tokio::time::sleep(60 * SECOND).await;
        Ok(number)
    }
}
impl Finish for Advised {
    async fn finish(&self, output: u32, _: Self::Reports) -> Result<u32, NodeError> {
        Ok(output)
    }
}

/// A run's events end with it. Its adviser has the time that the service has for shutting down.
#[tokio::test(start_paused = true)]
async fn late_advice_is_waited_for_within_the_patience_and_keeps_no_listener() {
    for (patience, drained_after, is_recorded) in [(100 * SECOND, 59 * SECOND, true), (SECOND, SECOND, false)] {
        let (journal, run) = (Arc::new(MemoryJournal::new()), id("a"));
        let service = service(&journal);
        let advised = Run::new(Advised::default()).with_report_deadline(SECOND);
        service.start(&run, advised, 7).await.unwrap();
        let (mut events, mut last) = (service.events(&run).unwrap(), None);
        while let Some(event) = events.next().await {
            last = Some(event.kind);
        }
        assert!(matches!(&last, Some(EventKind::RunEnded { .. })), "{last:?}");
        assert!(service.runs().is_empty());
        let began = tokio::time::Instant::now();
        service.drain(patience).await;
        assert_eq!(began.elapsed().as_secs(), drained_after.as_secs());
        let has_reported = |record: &Record| matches!(record.entry, Entry::Report { report: Some(_), .. });
        assert_eq!(journal.records(&run).iter().any(has_reported), is_recorded);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_drained_is_taken_up_by_the_next_process() {
    let journal = Arc::new(MemoryJournal::new());
    let before = service(&journal);
    for name in ["a", "b", "c"] {
        before.start(&id(name), measuring(), name.repeat(3)).await.unwrap();
    }
    before.start(&id("quick"), Run::new(Passing::default()), 7).await.unwrap();
    answer(&before, &id("c"), json!(true)).await;
    before.drain(15 * SECOND).await;
    assert!(before.runs().is_empty());
    assert_eq!(
        output(&before, &id("quick"), Run::new(Passing::default())).await,
        Some(7),
        "it had the time to end by itself"
    );
    let refused = before.start(&id("d"), measuring(), "late".to_owned()).await.unwrap_err();
    assert_eq!(refused, ServiceError::Draining { run: id("d") });

    let after = service(&journal);
    let unfinished = after.resume_unfinished::<Measuring>(|_| measuring()).await.unwrap();
    assert_eq!((&unfinished.resumed[..], &unfinished.refused[..]), (&[id("a"), id("b")][..], &[][..]));
    assert_eq!(after.start(&id("a"), measuring(), "aaa".to_owned()).await.unwrap(), Started::Running);
    for name in ["a", "b"] {
        answer(&after, &id(name), json!(true)).await;
        after.ended(&id(name)).await;
        assert_eq!(output(&after, &id(name), measuring()).await, Some(3));
        let records = journal.records(&id(name));
        let asked = records.iter().filter(|record| matches!(record.entry, Entry::Asked { .. })).count();
        let measured = |record: &&Record| matches!(&record.entry, Entry::Outcome(outcome) if outcome.node == "measure");
        assert_eq!((asked, records.iter().filter(measured).count()), (1, 1), "nothing is asked or measured again");
    }
}

/// A run that was left by its process, and is not resumed yet, goes on when it is started again.
#[tokio::test(start_paused = true)]
async fn a_run_that_was_left_goes_on_when_it_is_started_again() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("a"));
    let before = service(&journal);
    before.start(&run, measuring(), "tides".to_owned()).await.unwrap();
    before.drain(SECOND / 2).await;
    let after = service(&journal);
    assert_eq!(after.start(&run, measuring(), "tides".to_owned()).await.unwrap(), Started::Resumed);
    answer(&after, &run, json!(true)).await;
    after.ended(&run).await;
    assert_eq!(output(&after, &run, measuring()).await, Some(5));
}

#[tokio::test(start_paused = true)]
async fn runs_that_somebody_executes_are_not_taken_up() {
    let journal = Arc::new(MemoryJournal::new());
    let [one, other] = [service(&journal), service(&journal)];
    one.start(&id("a"), measuring(), "tides".to_owned()).await.unwrap();
    let unfinished = other.resume_unfinished::<Measuring>(|_| measuring()).await.unwrap();
    assert!(unfinished.resumed.is_empty());
    let [(run, ServiceError::Start(_))] = &unfinished.refused[..] else { panic!("{unfinished:?}") };
    assert_eq!(*run, id("a"));
    assert_eq!(one.resume_unfinished::<Measuring>(|_| measuring()).await.unwrap(), Default::default(), "it has it");
}
