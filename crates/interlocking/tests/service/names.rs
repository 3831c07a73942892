//! A name stands for one run, however often it is started.

use crate::{SECOND, answer, id, measuring, service};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::service::{ServiceError, Started};
use interlocking::runtime::{Journal, MemoryJournal, StartError};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Another graph, for which an agent is needed.
#[derive(Graph, Default)]
#[graph(output = String)]
struct Other {
    #[node(entry, input = Text, output = String, goto(exit))]
    write: LLMNode,
}
held!(Other, Weighing);

#[derive(serde::Serialize, serde::Deserialize, askama::Template)]
#[template(source = "{{ self.0 }}", ext = "txt")]
struct Text(String);

/// A graph whose entry value has numbers that are no `f64`.
#[derive(Graph, Default)]
#[graph(output = String)]
struct Weighing {
    #[node(entry, input = Load, goto(exit))]
    weigh: LogicNode<Weigh>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Load {
    label: String,
    weight: f32,
    serial: u128,
    parts: HashMap<u32, f32>,
}

#[derive(Default)]
struct Weigh;
impl LogicHandler<weighing::weigh> for Weigh {
    async fn run(&self, load: Load, cx: &mut Cx<'_, weighing::weigh>) -> Route<weighing::weigh> {
        goto!(cx, weighing::exit, load.label)
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_started_once() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("order-7"));
    let service = service(&journal);
    let start = || service.start(&run, measuring(), "tides".to_owned());
    let (one, other) = tokio::join!(start(), start());
    let mut started = [one.unwrap(), other.unwrap()];
    started.sort_by_key(|started| *started != Started::New);
    assert_eq!(started, [Started::New, Started::Running]);
    assert_eq!(start().await.unwrap(), Started::Running);
    answer(&service, &run, json!(true)).await;
    service.ended(&run).await;
    assert_eq!(start().await.unwrap(), Started::Ended("finished"));
    let records = journal.load(&run).await.unwrap();
    let started = records.iter().filter(|record| matches!(record.entry, Entry::Started { .. } | Entry::Resumed { .. }));
    assert_eq!(started.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_name_is_not_that_of_something_else() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("order-7"));
    let service = service(&journal);
    service.start(&run, measuring(), "tides".to_owned()).await.unwrap();
    let what = |refused| match refused {
        Err(ServiceError::Taken { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    // While the run is executed, and when it is not.
    for _ in 0..2 {
        let other_entry = service.start(&run, measuring(), "sands".to_owned()).await;
        assert_eq!(what(other_entry), "with another entry value");
        let other_graph = service.start(&run, Run::new(Other::default()), Text("tides".to_owned())).await;
        assert_eq!(what(other_graph), "of another graph");
        service.cancel(&run).await.unwrap();
        service.ended(&run).await;
    }
}

/// A map may be recorded in another order. An `f32` has other digits as an `f64`, and a `u128` is none.
#[tokio::test(start_paused = true)]
async fn an_entry_value_with_numbers_of_any_type_is_recognised() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("load-7"));
    let service = service(&journal);
    let start = |label: &str, weight: f32, serial: u128| {
        let parts = (0..20).map(|part| (part, 0.1)).collect();
        let load = Load { label: label.to_owned(), weight, serial, parts };
        service.start(&run, Run::new(Weighing::default()), load)
    };
    let label = "No. 1";
    assert_eq!(start(label, 0.1, u128::MAX).await.unwrap(), Started::New);
    service.ended(&run).await;
    assert_eq!(start(label, 0.1, u128::MAX).await.unwrap(), Started::Ended("finished"));
    let others = [(label, 0.1_f32.next_up(), u128::MAX), (label, 0.1, 1), ("1", 0.1, u128::MAX)];
    for (label, weight, serial) in others {
        let refused = start(label, weight, serial).await;
        assert!(matches!(refused, Err(ServiceError::Taken { what: "with another entry value", .. })), "{refused:?}");
    }
}

/// The second start is refused because its entry value differs, although no record of the first
/// exists yet.
#[tokio::test(start_paused = true)]
async fn of_two_entry_values_at_once_one_is_refused() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("order-7"));
    let service = service(&journal);
    let start = |text: &str| service.start(&run, measuring(), text.to_owned());
    let (one, other) = tokio::join!(start("tides"), start("sands"));
    assert_eq!(one.unwrap(), Started::New);
    assert!(matches!(other, Err(ServiceError::Taken { what: "with another entry value", .. })), "{other:?}");
}

/// If a start waits for another of the same name and that one is refused, the waiting start goes
/// ahead.
#[tokio::test(start_paused = true)]
async fn a_run_is_started_once_another_of_its_name_was_refused() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("order-7"));
    let service = service(&journal);
    let unbound = service.start(&run, Run::new(Other::default()), Text("tides".to_owned()));
    let (refused, started) = tokio::join!(unbound, service.start(&run, measuring(), "tides".to_owned()));
    assert!(matches!(refused, Err(ServiceError::Start(StartError::UnboundRoles { .. }))), "{refused:?}");
    assert_eq!(started.unwrap(), Started::New);
}

/// The caller gets the reason why a run is refused, and the name stays free.
#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_start_says_why() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("order-7"));
    let service = service(&journal);
    let refused = service.start(&run, Run::new(Other::default()), Text("tides".to_owned())).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Start(StartError::UnboundRoles { .. })), "{refused}");
    service.ended(&run).await;
    assert_eq!(service.start(&run, measuring(), "tides".to_owned()).await.unwrap(), Started::New);
}

/// Another process executes the run: that run is not in this service's own list.
#[tokio::test(start_paused = true)]
async fn a_run_that_somebody_else_executes_is_refused() {
    let (journal, run) = (Arc::new(MemoryJournal::new()), id("order-7"));
    let [one, other] = [service(&journal), service(&journal)];
    one.start(&run, measuring(), "tides".to_owned()).await.unwrap();
    let refused = other.start(&run, measuring(), "tides".to_owned()).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Start(_)) && refused.to_string().contains("order-7"), "{refused}");
    tokio::time::sleep(SECOND).await;
    assert_eq!(one.runs(), [run]);
    assert!(other.runs().is_empty());
}
