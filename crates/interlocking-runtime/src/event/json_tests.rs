//! Tests of the JSON form of events, which `docs/book/src/events.md` shows.

use super::{Event, EventKind, NodeRef, Targets};
use crate::journal::Origin;
use crate::workspaces::unkept::Unkept;
use interlocking_agents::{AgentEvent, SessionId, Usage};
use interlocking_core::context::{Label, Severity};
use interlocking_core::run_id::RunId;
use interlocking_core::table::Isolation;

/// At least one event of each kind, in the order of their declaration.
fn samples() -> Vec<Event> {
    let run: RunId = "night-7".parse().unwrap();
    let child: RunId = "night-7-29f20020aff60e81".parse().unwrap();
    let node = |node: &'static str, visit| NodeRef { node: node.into(), visit, attempt: 1 };
    let origin = Origin::Child {
        parent: run.clone(),
        node: "pages".to_owned(),
        visit: 1,
        attempt: 1,
        number: 1,
        key: "\"front\"".to_owned(),
    };
    let unkept = Unkept {
        node: "tests".to_owned(),
        workspace: "tests".to_owned(),
        demanded: Isolation::Sandbox,
        blind_to: vec!["code".to_owned()],
        given: Isolation::Clone,
        reason: "the kernel has no Landlock".to_owned(),
    };
    let write = || node("write", 2);
    let label = Label {
        ty: "BLOCKED_DEPENDENCY".to_owned(),
        severity: Severity::Blocker,
        route_hint: Some("scaffold".to_owned()),
    };
    let session = SessionId::new("write-1").unwrap();
    let usage = Usage { calls: 1, ..Usage::default() };
    let kinds = [
        EventKind::RunStarted { graph: "Newsroom".into(), origin: None },
        EventKind::IsolationUnkept(Box::new(unkept)),
        EventKind::NodeStarted(write()),
        EventKind::NodeFinished { node: write(), to: Targets::One("review".into()), took_ms: 1500 },
        EventKind::NodeFinished {
            node: write(),
            to: Targets::All(["spell".into(), "desk.facts".into()].into()),
            took_ms: 1500,
        },
        EventKind::Labelled { node: write(), label: Box::new(label) },
        EventKind::NodeFailed { node: write(), message: "two\nlines".to_owned(), to: None, took_ms: 1500 },
        EventKind::NodeFailed {
            node: write(),
            message: "no source".to_owned(),
            to: Some(Box::new("desk.facts".into())),
            took_ms: 1500,
        },
        EventKind::NodeCancelled(write()),
        EventKind::NodeSuspended(write()),
        EventKind::NodeWaits { node: write(), exclusive: "main".into() },
        EventKind::NodeExhausted(node("write", 3)),
        EventKind::EdgeExhausted { node: write(), edge: "review".into() },
        EventKind::MapStarted { node: node("votes", 1), items: 7, ended: 0 },
        EventKind::NodeDecided { node: node("votes", 1), reached: true, succeeded: 2, failed: 1, cancelled: 4 },
        EventKind::ItemsAdded { node: node("more", 1), map: "pages".into(), items: 2, refused: false },
        EventKind::Agent { node: write(), agent: Box::new(AgentEvent::Started { session: session.clone() }) },
        EventKind::Agent { node: write(), agent: Box::new(AgentEvent::Finished { session: Some(session), usage }) },
        EventKind::Note { node: write(), text: "page 1".to_owned() },
        EventKind::Message { node: "hurry".into(), missed: false },
        EventKind::Message { node: "bell".into(), missed: true },
        EventKind::Reported { node: node("facts", 1), failure: None, late: false },
        EventKind::Reported { node: node("facts", 2), failure: Some("no source".to_owned()), late: true },
        EventKind::LeftOut { events: 3 },
        EventKind::Waiting,
        EventKind::RunEnded { outcome: "finished".into(), usage },
    ];
    let mut events: Vec<Event> = kinds.map(|kind| Event { run: run.clone(), at_ms: 250, kind }).into();
    let kind = EventKind::RunStarted { graph: "Page".into(), origin: Some(Box::new(origin)) };
    events.insert(1, Event { run: child, at_ms: 250, kind });
    events
}

/// The position of a kind in the declaration. A new kind does not compile here, and also needs a sample above.
fn position(kind: &EventKind) -> usize {
    match kind {
        EventKind::RunStarted { .. } => 0,
        EventKind::IsolationUnkept(_) => 1,
        EventKind::NodeStarted(_) => 2,
        EventKind::NodeFinished { .. } => 3,
        EventKind::Labelled { .. } => 4,
        EventKind::NodeFailed { .. } => 5,
        EventKind::NodeCancelled(_) => 6,
        EventKind::NodeSuspended(_) => 7,
        EventKind::NodeWaits { .. } => 8,
        EventKind::NodeExhausted(_) => 9,
        EventKind::EdgeExhausted { .. } => 10,
        EventKind::MapStarted { .. } => 11,
        EventKind::NodeDecided { .. } => 12,
        EventKind::ItemsAdded { .. } => 13,
        EventKind::Agent { .. } => 14,
        EventKind::Note { .. } => 15,
        EventKind::Message { .. } => 16,
        EventKind::Reported { .. } => 17,
        EventKind::LeftOut { .. } => 18,
        EventKind::Waiting => 19,
        EventKind::RunEnded { .. } => 20,
    }
}

#[test]
fn the_documentation_shows_every_event_as_it_is_written() {
    let mut kinds: Vec<usize> = samples().iter().map(|event| position(&event.kind)).collect();
    kinds.dedup();
    assert_eq!(kinds, Vec::from_iter(0..21), "each kind has a sample");
    let lines: String = samples().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    let page = include_str!("../../../../docs/book/src/events.md");
    let shown = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(shown, lines, "docs/book/src/events.md is to show this:\n{lines}");
}

#[test]
fn an_event_that_was_written_is_read_as_it_was() {
    for event in samples() {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event, "{line}");
        let value = serde_json::to_value(&event).unwrap();
        assert_eq!(serde_json::from_value::<Event>(value).unwrap(), event, "{line}");
    }
}

/// A program that reads events of a later version ignores unknown fields, and reads all others.
#[test]
fn fields_may_be_added_and_times_are_integers() {
    let line = r#"{"run":"r","at_ms":18446744073709551615,"event":"waiting","new":{"at_ms":0.5}}"#;
    let event: Event = serde_json::from_str(line).unwrap();
    assert_eq!((event.at_ms, event.kind), (u64::MAX, EventKind::Waiting));
    for wrong in [r#"{"run":"r","at_ms":0.5,"event":"waiting"}"#, r#"{"run":"../r","at_ms":1,"event":"waiting"}"#] {
        assert!(serde_json::from_str::<Event>(wrong).is_err(), "{wrong}");
    }
}
