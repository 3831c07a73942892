//! Many runs in one process: names, shared limits, resumed runs, draining.

#![expect(clippy::unwrap_used, reason = "a test: what is wrong shall end it")]

#[macro_use]
#[path = "../../../interlocking-soundness/tests/evidence/tables/held.rs"]
mod held;
#[path = "../../../../tests/every_file_is_here.rs"]
mod every_file_is_here;
mod limits;
mod names;
mod shutdown;

use interlocking::graph::Graph;
use interlocking::prelude::*;
use interlocking::runtime::journal::answer::open_questions;
use interlocking::runtime::service::{Service, Started};
use interlocking::runtime::{BudgetExceeded, Budgets, EventKind, MemoryJournal};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A text is measured, and a person confirms the result.
#[derive(Graph, Default)]
#[graph(output = u32)]
struct Measuring {
    #[node(entry, input = String, goto(confirm))]
    measure: LogicNode<Measure>,
    #[node(input = u32, question = String, answer = bool, goto(exit))]
    confirm: HumanNode<Confirm>,
}
held!(Measuring);

#[derive(Default)]
struct Measure;
impl LogicHandler<measuring::measure> for Measure {
    async fn run(&self, text: String, cx: &mut Cx<'_, measuring::measure>) -> Route<measuring::measure> {
        tokio::time::sleep(SECOND).await;
        goto!(cx, measuring::confirm, u32::try_from(text.len())?)
    }
}

#[derive(Default)]
struct Confirm;
impl HumanHandler<measuring::confirm> for Confirm {
    async fn ask(&self, length: &u32, _: &mut Cx<'_, measuring::confirm>) -> Result<String, NodeError> {
        Ok(format!("is it {length}?"))
    }
    async fn answered(
        &self,
        length: u32,
        right: bool,
        cx: &mut Cx<'_, measuring::confirm>,
    ) -> Route<measuring::confirm> {
        if right { goto!(cx, measuring::exit, length) } else { Err("it is wrong".into()) }
    }
}

fn service(journal: &Arc<MemoryJournal>) -> Service {
    Service::new(journal.clone())
}

fn measuring() -> Run<Measuring> {
    Run::new(Measuring::default())
}

/// The output of a run, if it has finished.
async fn output<G: Graph>(service: &Service, name: &RunId, run: Run<G>) -> Option<G::Output> {
    service.report(name, run).await.unwrap()?.outcome.finished()
}

fn id(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

/// Waits until the run asks, and answers.
async fn answer(service: &Service, run: &RunId, given: Value) {
    loop {
        if let [question] = &open_questions(&**service.journal(), run).await.unwrap()[..] {
            service.answer(run, &question.by, &given).await.unwrap();
            return;
        }
        tokio::time::sleep(SECOND / 10).await;
    }
}

/// Any number of listeners can watch a run while it goes on; the run goes on as soon as its person has
/// answered.
#[tokio::test(start_paused = true)]
async fn a_run_is_watched_and_answered() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("r1"));
    let service = service(&journal);
    assert!(service.events(&run).is_none(), "nobody executes it");
    assert!(service.report(&run, measuring()).await.is_err(), "there is no such run");
    service.start(&run, measuring(), "tides".to_owned()).await.unwrap();
    assert!(service.report(&run, measuring()).await.unwrap().is_none(), "it has not ended");
    let [mut first, gone, mut other] = [(); 3].map(|()| service.events(&run).unwrap());
    drop(gone);
    answer(&service, &run, json!(true)).await;
    assert_eq!(service.ended(&run).await, Some(Outcome::Finished(())));
    assert_eq!(output(&service, &run, measuring()).await, Some(5));
    assert!(service.runs().is_empty() && service.events(&run).is_none());

    let mut told = Vec::new();
    while let Some(event) = first.next().await {
        assert_eq!(Some(&event), other.next().await.as_ref(), "all are told the same");
        told.push(event.kind);
    }
    assert_eq!(other.next().await, None, "the stream ends with the run");
    assert!(told.iter().any(|kind| kind.node().is_some_and(|node| node.node == "confirm")));
    assert!(matches!(told.last(), Some(EventKind::RunEnded { outcome, .. }) if outcome == "finished"), "{told:?}");
}

/// The journal has only ends, so whoever waits for a run is told why it stopped.
#[tokio::test(start_paused = true)]
async fn a_run_that_stops_says_why() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("r1"));
    let service = service(&journal);
    let budgets = Budgets::unlimited().with_wall_time(SECOND / 2);
    service.start(&run, measuring().with_budgets(budgets), "tides".to_owned()).await.unwrap();
    let outcome = service.ended(&run).await.unwrap();
    let Outcome::BudgetExhausted(BudgetExceeded::WallTime { limit, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(limit, SECOND / 2);
    assert!(service.report(&run, measuring()).await.unwrap().is_none(), "it has not ended");
    assert_eq!(service.ended(&run).await, None, "it is not executed");
    assert_eq!(service.start(&run, measuring(), "tides".to_owned()).await.unwrap(), Started::Resumed);
    service.cancel(&run).await.unwrap();
    assert_eq!(service.ended(&run).await, Some(Outcome::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_while_it_is_executed() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("r1"));
    let service = service(&journal);
    service.start(&run, measuring(), "tides".to_owned()).await.unwrap();
    service.cancel(&run).await.unwrap();
    service.ended(&run).await;
    let again = service.start(&run, measuring(), "tides".to_owned()).await.unwrap();
    assert_eq!(again, Started::Ended("cancelled"));
    assert_eq!(output(&service, &run, measuring()).await, None);
}
