//! Labels: the kind of message that an outcome is, from the closed set of its exits.

use crate::support::{Log, finished, timed};
use interlocking::context::{Label, LabelType, Severity};
use interlocking::prelude::*;
use interlocking::runtime::journal::Entry;
use interlocking::runtime::journal::account::account;
use interlocking::runtime::{EventKind, Journal, MemoryJournal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Graph)]
#[graph(output = Exit)]
struct Work {
    #[node(entry, input = String, goto(test), visits = 2)]
    scaffold: LogicNode<Rescaffold>,
    #[node(input = String, goto(scaffold, exit))]
    test: LogicNode<Write>,
}

held!(Work);

/// The possible results of writing tests (V3-143).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Labels)]
#[labels(node = work::test)]
enum Exit {
    #[label(info, route_hint = work::exit)]
    Written { files: u32 },
    #[label(warn)]
    Nothing,
    #[label(blocker, route_hint = work::scaffold)]
    BlockedDependency(String),
}

logic!(Rescaffold for work::scaffold, |text: String, cx| goto!(cx, work::test, text));
logic!(Write for work::test, |text: String, cx| {
    let exit = match (text.as_str(), cx.visit()) {
        ("", _) => Exit::Nothing,
        (_, 1) => Exit::BlockedDependency(text),
        _ => Exit::Written { files: 1 },
    };
    cx.label(&exit);
    match exit {
        Exit::BlockedDependency(on) => goto!(cx, work::scaffold, on),
        exit => goto!(cx, work::exit, exit),
    }
});

fn work() -> Run<Work> {
    timed(Work { scaffold: LogicNode(Rescaffold), test: LogicNode(Write) })
}

/// CON-39: every exit variant has an envelope, in capitals, with a severity and a hint.
#[test]
fn every_variant_has_an_envelope() {
    let told: Vec<_> =
        ExitLabel::ALL.iter().map(|label| (label.name(), label.severity(), label.route_hint())).collect();
    assert_eq!(
        told,
        [
            ("WRITTEN", Severity::Info, Some("exit")),
            ("NOTHING", Severity::Warn, None),
            ("BLOCKED_DEPENDENCY", Severity::Blocker, Some("scaffold")),
        ]
    );
    assert_eq!(Exit::BlockedDependency(String::new()).label(), ExitLabel::BlockedDependency);
    for label in ExitLabel::ALL {
        assert_eq!(ExitLabel::named(label.name()), Some(*label));
    }
    assert_eq!(ExitLabel::named("Written"), None);
}

/// V3-143: the journal's record, the events and the operator's view have the label; an outcome without a label
/// has none.
#[tokio::test(start_paused = true)]
async fn what_is_routed_has_its_envelope() {
    let (log, journal) = (Log::new(), Arc::new(MemoryJournal::new()));
    let run = work().with_events(log.sink()).with_journal(journal.clone());
    assert_eq!(finished(run.start("parsing".into()).await.unwrap()), Exit::Written { files: 1 });
    let blocked = Label {
        ty: "BLOCKED_DEPENDENCY".to_owned(),
        severity: Severity::Blocker,
        route_hint: Some("scaffold".to_owned()),
    };
    let written = Label { ty: "WRITTEN".to_owned(), severity: Severity::Info, route_hint: Some("exit".to_owned()) };
    let records = journal.load(&RunId::DEFAULT).await.unwrap();
    let recorded = records.iter().filter_map(|record| match &record.entry {
        Entry::Outcome(outcome) => Some((outcome.node.as_str(), outcome.label.clone())),
        _ => None,
    });
    let expected =
        [("scaffold", None), ("test", Some(blocked.clone())), ("scaffold", None), ("test", Some(written.clone()))];
    assert_eq!(recorded.collect::<Vec<_>>(), expected);
    let json = serde_json::to_value(&blocked).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"type": "BLOCKED_DEPENDENCY", "severity": "BLOCKER", "route_hint": "scaffold"})
    );
    let told: Vec<_> = log.events().into_iter().map(|event| event.kind).collect();
    let labelled: Vec<_> = (told.iter().zip(&told[1..]))
        .filter_map(|(event, next)| match event {
            EventKind::Labelled { node, label, .. } => {
                assert!(matches!(next, EventKind::NodeFinished { node: finished, .. } if finished == node), "{next:?}");
                Some((**label).clone())
            }
            _ => None,
        })
        .collect();
    assert_eq!(labelled, [blocked.clone(), written]);
    let shown = account(&*journal, &RunId::DEFAULT).await.unwrap();
    let shown: Vec<_> = shown.executions.iter().filter_map(|execution| execution.label.clone()).collect();
    assert_eq!(shown[0].to_string(), "BLOCKER BLOCKED_DEPENDENCY, hint scaffold");
}

/// Without a journal, listeners are told too, also about the last node.
#[tokio::test(start_paused = true)]
async fn an_unrecorded_run_tells_its_labels() {
    let log = Log::new();
    finished(work().without_journal().with_events(log.sink()).start(String::new()).await.unwrap());
    let labels = log.events().into_iter().filter_map(|event| match event.kind {
        EventKind::Labelled { label, .. } => Some(label.to_string()),
        _ => None,
    });
    assert_eq!(labels.collect::<Vec<_>>(), ["WARN NOTHING"]);
}
