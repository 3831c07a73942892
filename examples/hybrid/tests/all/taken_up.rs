//! A run whose process ended at an awkward moment, resumed by another.

use crate::agent_script::{AgentScript, Turn};
use crate::stage::Stage;
use hybrid::demo::Scenario;
use hybrid::graph::Hybrid;
use hybrid::past::Past;
use hybrid::run::{Settings, UnderWay, set_up};
use interlocking::prelude::*;
use interlocking::runtime::CancelToken;
use interlocking::runtime::journal::MemoryJournal;
use std::sync::Arc;

async fn again(stage: &Stage, journal: &Arc<MemoryJournal>) -> (Run<Hybrid>, UnderWay) {
    let settings = stage.settings();
    let past = Past::read(&**journal, &settings.run).await.unwrap();
    assert_eq!((past.base.to_string(), &past.spec), (stage.base.clone(), &stage.task.spec));
    let (run, under_way) = set_up(Settings { past: Some(past), ..settings }).unwrap();
    (run.with_journal(journal.clone()), under_way)
}

/// The journal has the run's end, but its process has not reported it: the next process does, and nothing is repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ended_and_was_not_told_is_told() {
    let stage = Stage::quick(AgentScript::of(Scenario::Happy)).await;
    let journal = Arc::new(MemoryJournal::new());
    let (run, under_way) = set_up(stage.settings()).unwrap();
    let first = run.with_journal(journal.clone()).start(stage.task.spec.clone()).await.unwrap();
    assert!(matches!(&first.outcome, Outcome::Finished(result) if result.succeeded()));
    drop(under_way);

    let calls = stage.agent.calls().len();
    let (run, under_way) = again(&stage, &journal).await;
    let report = run.resume().await.unwrap();
    let ended = under_way.conclude(report, &*journal).await.unwrap();
    let result = stage.assert_landed(&ended);
    assert_eq!(stage.agent.calls().len(), calls);
    assert!(result.witness.narrative.starts_with("types went on to "), "{}", result.witness.narrative);
    assert!(result.witness.narrative.contains("; merge went on to validate; "), "{}", result.witness.narrative);

    let (run, under_way) = again(&stage, &journal).await;
    let report = run.resume().await.unwrap();
    let once_more = under_way.conclude(report, &*journal).await.unwrap();
    assert_eq!(stage.assert_landed(&once_more), result);
}

/// HY-25: user files that block the landing are not touched, and the run lands when it is retried.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_could_not_land_is_landed_by_a_retry() {
    let stage = Stage::quick(AgentScript::of(Scenario::Happy)).await;
    let journal = Arc::new(MemoryJournal::new());
    let file = stage.repository().join("src/lib.rs");
    std::fs::write(&file, "//! The user is at work here.\n").unwrap();
    let (run, under_way) = set_up(stage.settings()).unwrap();
    let report = run.with_journal(journal.clone()).start(stage.task.spec.clone()).await.unwrap();
    let ended = under_way.conclude(report, &*journal).await.unwrap();
    assert!(!ended.result.unwrap().succeeded());
    assert_eq!((stage.git(&["rev-parse", "main"]), ended.main.0), (stage.base.clone(), ended.main.1));
    stage.git(&["checkout", "--quiet", "--", "src/lib.rs"]);

    let calls = stage.agent.calls().len();
    let past = Past::read(&*journal, &stage.settings().run).await.unwrap().retried().without_places();
    let (run, under_way) = set_up(Settings { past: Some(past), ..stage.settings() }).unwrap();
    let report = run.with_journal(journal.clone()).retry().await.unwrap();
    stage.assert_landed(&under_way.conclude(report, &*journal).await.unwrap());
    assert_eq!(stage.agent.calls().len(), calls);
}

/// The files of a suspended run stay in place, and the run goes on from there.
#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_run_keeps_its_worktrees_and_goes_on() {
    // A cancelled turn is used up.
    let script = AgentScript::of(Scenario::Happy);
    let adversary = script.turn("adversary");
    let stage = Stage::quick(script.then(adversary)).await;
    let cancel = CancelToken::new();
    let suspend = cancel.clone();
    stage.agent.when_called("adversary", move || suspend.suspend());
    let journal = Arc::new(MemoryJournal::new());
    let (run, under_way) = set_up(stage.settings()).unwrap();
    let run = run.with_journal(journal.clone()).with_cancel(cancel);
    let report = run.start(stage.task.spec.clone()).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Suspended));
    let ended = under_way.conclude(report, &*journal).await.unwrap();
    assert!(ended.result.is_none() && ended.left_behind.is_none());
    assert!(stage.worktree("skeleton").is_dir() && stage.worktree("types-review").is_dir());
    assert_eq!(stage.git(&["rev-parse", "main"]), stage.base);

    let (run, under_way) = again(&stage, &journal).await;
    let report = run.resume().await.unwrap();
    let result = stage.assert_landed(&under_way.conclude(report, &*journal).await.unwrap());
    assert_eq!(stage.calls_of("types").len(), 1, "what was done stays done");
    assert_eq!(result.witness.narrative.matches("types went on to ").count(), 1);
}

/// A journal that cannot be read is reported as such: no result is made up, and another process can report the run's
/// result later.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_journal_cannot_be_read_is_not_concluded() {
    let writes = |adversary: &mut Turn| adversary.write("src/lib.rs", "// Broken on purpose.\n");
    let stage = Stage::quick(AgentScript::of(Scenario::Happy).with("adversary", writes)).await;
    let journal = Arc::new(MemoryJournal::new());
    let (run, under_way) = set_up(stage.settings()).unwrap();
    let report = run.with_journal(journal.clone()).start(stage.task.spec.clone()).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Failed(_)), "{:?}", report.outcome);
    let refused = under_way.conclude(report, &MemoryJournal::new()).await.unwrap_err();
    let said = "the journal of `r1` does not say how it began";
    assert!(refused.to_string().starts_with(said), "{refused}");

    let (run, under_way) = again(&stage, &journal).await;
    let report = run.resume().await.unwrap();
    let ended = under_way.conclude(report, &*journal).await.unwrap();
    let (result, _) = stage.assert_not_landed(&ended);
    assert_eq!(result.spec.len(), 5, "what was gathered is kept");
}
