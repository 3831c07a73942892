//! The contract of every journal, and round trips.

use crate::records::{ended, failure, id, outcome, started, table, texts};
use interlocking_agents::LedgerEntry;
use interlocking_core::context::{Commit, Label, Severity};
use interlocking_runtime::journal::{
    AddedItems, By, Digest, Entry, ItemRecord, Journal, JournalError, MemoryRecord, MessageRecord, Origin, Record,
    RecordedPayload, TokenRecord,
};
use interlocking_sqlite::SqliteJournal;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

#[tokio::test]
async fn records_come_back_in_order_and_payloads_by_name() {
    let place = tempfile::tempdir().unwrap();
    let run = id("run-1");
    {
        let journal = SqliteJournal::open(place.path()).unwrap();
        assert_eq!(journal.load(&run).await.unwrap(), []);
        journal.append(started(&run, "{}")).await.unwrap();
        journal.append(outcome(&run, 1, r#"{"a":1}"#)).await.unwrap();
        journal.append(ended(&run, 2)).await.unwrap();
        let late = journal.append(outcome(&run, 2, "1")).await.unwrap_err();
        assert_eq!(late, JournalError::OutOfOrder { run: run.clone(), sequence: 2, present: 3 });
    }
    let journal = SqliteJournal::open(place.path()).unwrap();
    let records = journal.load(&run).await.unwrap();
    assert_eq!(records.iter().map(|record| record.sequence).collect::<Vec<_>>(), [0, 1, 2]);
    let Entry::Started { table: stored, .. } = &records[0].entry else { panic!("{:?}", records[0]) };
    assert_eq!(**stored, table());
    assert_eq!(texts(&journal, &run).await.iter().map(|text| &**text).collect::<Vec<_>>(), [r#"{"a":1}"#]);

    let runs = journal.runs().await.unwrap();
    assert_eq!((&runs[0].run, &*runs[0].graph, runs[0].records), (&run, "Draft", 3));
    assert_eq!((runs[0].ended.as_deref(), runs[0].holder.as_deref()), (Some("finished"), None));
    assert!(runs[0].updated_at_ms >= runs[0].started_at_ms && runs[0].started_at_ms > 1_600_000_000_000);
    assert_eq!(journal.check().await.unwrap(), [""; 0]);

    journal.remove(&run).await.unwrap();
    assert_eq!(journal.load(&run).await.unwrap(), []);
    assert!(matches!(journal.remove(&run).await, Err(JournalError::NoRun { .. })));
}

/// A call with every field set.
fn call() -> LedgerEntry {
    let usage = r#"{"calls":3,"input_tokens":40,"output_tokens":5,"cost":600,"unpriced_calls":1}"#;
    serde_json::from_str(&format!(r#"{{"agent":"a","role":"writer","session":"s-1","usage":{usage}}}"#)).unwrap()
}

/// Every kind of entry, with all its fields set.
fn entries() -> Vec<Entry> {
    let by = || By { node: "write".to_owned(), visit: 2, attempt: 1 };
    let json = |text: &str| RecordedPayload::from(text);
    let mut full = outcome(&id("x"), 1, r#"{"token":1}"#);
    if let Entry::Outcome(outcome) = &mut full.entry {
        outcome.tokens.push(TokenRecord { place: "join.slot".to_owned(), payload: json("[2]") });
        outcome.spawned.push(TokenRecord { place: "watch".to_owned(), payload: json("3") });
        let (to, node) = (id("other"), "merged".to_owned());
        outcome.posted.push(MessageRecord { to, node, message: json("5") });
        outcome.label = Some(Label {
            ty: "BLOCKED_DEPENDENCY".to_owned(),
            severity: Severity::Blocker,
            route_hint: Some("scaffold".to_owned()),
        });
        outcome.memory = Some(MemoryRecord { group: "notes".to_owned(), value: json(r#"["m"]"#) });
        outcome.calls = vec![call()];
        outcome.commits = vec![Commit { workspace: "main".to_owned(), id: "c0ffee".to_owned() }];
    }
    let session = serde_json::from_str(r#""session-7""#).unwrap();
    let origin = Origin::Child {
        parent: id("parent"),
        node: "each".to_owned(),
        visit: 1,
        attempt: 1,
        key: "7".to_owned(),
        number: 2,
    };
    let table = Box::new(table());
    let mut adding = outcome(&id("x"), 1, "1");
    if let Entry::Outcome(outcome) = &mut adding.entry {
        let item =
            |entry: &str, anew_after| ItemRecord { entry: json(entry), key: "7".to_owned(), anew: false, anew_after };
        let items = vec![item("7", None), item("\"seven\"", Some(id("one")))];
        outcome.added = Some(Box::new(AddedItems { to: by(), items }));
    }
    let mut without_tokens = outcome(&id("x"), 1, "1");
    if let Entry::Outcome(outcome) = &mut without_tokens.entry {
        outcome.tokens.clear();
        outcome.alternative = None;
    }
    let memory = Some(MemoryRecord { group: "count".to_owned(), value: json("3") });
    vec![
        Entry::Started { table, input: json(r#"{"in":true}"#), origin: Some(origin), workspaces: Vec::new() },
        Entry::Resumed { table: None, taken_by: None },
        Entry::Retried { letters: 7 },
        Entry::Session { by: by(), conversation: 2, agent: "writer".to_owned(), session },
        Entry::Once { by: by(), name: "mail".to_owned(), value: json("\"sent\"") },
        Entry::Asked { by: by(), question: json("\"why?\""), schema: json("{}"), asked_at_ms: Some(7) },
        Entry::Answered { by: by(), letter: 1, answer: json("\"so\"") },
        Entry::Received { node: "write".to_owned(), letter: 2, message: json("null"), missed: false },
        full.entry,
        without_tokens.entry,
        adding.entry,
        Entry::Report {
            by: by(),
            report: Some(json("[]")),
            failure: None,
            memory: None,
            calls: Vec::new(),
            posted: Vec::new(),
            label: None,
            commits: Vec::new(),
        },
        Entry::Report {
            by: by(),
            report: Some(json("3")),
            failure: None,
            memory,
            calls: vec![call()],
            posted: Vec::new(),
            label: None,
            commits: Vec::new(),
        },
        Entry::Report {
            by: by(),
            report: None,
            failure: Some(failure()),
            memory: None,
            calls: Vec::new(),
            posted: Vec::new(),
            label: None,
            commits: Vec::new(),
        },
        Entry::Spent { by: by(), calls: vec![call()] },
        Entry::Decided { by: by(), reached: true, ended: vec![id("one"), id("other")] },
        Entry::Landed {
            by: by(),
            child: "demo-child".parse().unwrap(),
            commit: Commit { workspace: "impl".to_owned(), id: "1".repeat(40) },
        },
        Entry::Ended { failure: None, cancelled: false, output: Some(json(r#"{"out":true}"#)) },
        Entry::Ended { failure: Some(failure()), cancelled: false, output: None },
    ]
}

/// V3-149: entries are read as they were written, and each payload is found by its digest.
#[tokio::test]
async fn every_entry_comes_back_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("all");
    for (sequence, entry) in (0..).zip(entries()) {
        journal.append(Record { run: run.clone(), sequence, entry }).await.unwrap();
    }
    let records = journal.load(&run).await.unwrap();
    assert_eq!(records.len(), entries().len());
    for (record, entry) in records.into_iter().zip(entries()) {
        let mut json = serde_json::to_value(&record.entry).unwrap();
        by_value(&journal, &mut json).await;
        assert_eq!(json, serde_json::to_value(&entry).unwrap());
    }
    let runs = journal.runs().await.unwrap();
    assert_eq!(runs[0].ended.as_deref(), Some("failed"));
    assert!(matches!(runs[0].origin, Some(Origin::Child { .. })));
}

/// Replaces digests by payloads.
async fn by_value(journal: &SqliteJournal, json: &mut serde_json::Value) {
    let mut names = Vec::new();
    collect(json, &mut names);
    for name in names {
        let digest: Digest = name.parse().unwrap();
        let text = journal.fetch(&id("all"), &[digest]).await.unwrap().remove(0);
        replace(json, &name, &text);
    }
}

fn collect(json: &serde_json::Value, names: &mut Vec<String>) {
    match json {
        serde_json::Value::Object(fields) => {
            if let Some(serde_json::Value::String(name)) = fields.get("stored") {
                names.push(name.clone());
            }
            fields.values().for_each(|value| collect(value, names));
        }
        serde_json::Value::Array(elements) => elements.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}

fn replace(json: &mut serde_json::Value, name: &str, text: &str) {
    match json {
        serde_json::Value::Object(fields) => {
            if fields.get("stored").is_some_and(|stored| stored == name) {
                *fields = serde_json::Map::from_iter([("json".to_owned(), text.into())]);
            }
            fields.values_mut().for_each(|value| replace(value, name, text));
        }
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(|value| replace(value, name, text)),
        _ => {}
    }
}

/// V3-144, CON-39: the name of a payload is `sha256:` and the hex digest of its text, also where the text is stored as
/// a delta.
#[tokio::test]
async fn a_payloads_name_is_the_sha256_of_its_text() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("named");
    journal.append(started(&run, "{}")).await.unwrap();
    let states = (1..20).map(|round| format!("[\"{}\",{round}]", "all is well ".repeat(50 * round)));
    let states: Vec<_> = ["1".to_owned()].into_iter().chain(states).collect();
    for (sequence, state) in (1..).zip(&states) {
        journal.append(outcome(&run, sequence, &state[..])).await.unwrap();
    }
    let records = journal.load(&run).await.unwrap();
    assert_eq!(records.len(), 1 + states.len());
    for (record, state) in records[1..].iter().zip(&states) {
        let Entry::Outcome(outcome) = &record.entry else { panic!("{record:?}") };
        let RecordedPayload::Stored(digest) = &outcome.tokens[0].payload else { panic!("{record:?}") };
        let hex: String = Sha256::digest(state).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest.to_string(), format!("sha256:{hex}"));
        assert_eq!(journal.fetch(&run, &[*digest]).await.unwrap(), [(&state[..]).into()]);
    }
}

/// V3-147: the same content is one object, also in several runs.
#[tokio::test]
async fn the_same_payload_is_stored_once() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let text = format!("{{\"report\":\"{}\"}}", "all is well ".repeat(50));
    for (name, again) in [("one", 3), ("two", 0), ("three", 0)] {
        let run = id(name);
        journal.append(started(&run, "{}")).await.unwrap();
        journal.append(outcome(&run, 1, &text[..])).await.unwrap();
        assert_eq!(journal.stats().objects, 3, "a table, an input and a state");
        for sequence in 2..2 + again {
            journal.append(outcome(&run, sequence, &text[..])).await.unwrap();
        }
    }
    drop(journal);
    // A journal that is opened later does not store it again either.
    let journal = SqliteJournal::open(place.path()).unwrap();
    journal.append(outcome(&id("two"), 2, &text[..])).await.unwrap();
    assert_eq!(journal.stats().objects, 0);
}

fn states() -> impl Strategy<Value = Vec<String>> {
    let edit = (any::<u16>(), 0usize..60, "[ -~éß]{0,80}");
    (proptest::collection::vec("[ -~]{0,300}", 1..4), proptest::collection::vec(edit, 1..60)).prop_map(
        |(firsts, edits)| {
            let mut states = firsts;
            for (at, length, new) in edits {
                // Replaces a piece of one of the earlier states.
                let mut state: Vec<char> = states[usize::from(at) % states.len()].chars().collect();
                let start = usize::from(at) % (state.len() + 1);
                let end = (start + length).min(state.len());
                state.splice(start..end, new.chars());
                states.push(state.into_iter().collect());
            }
            states.iter().map(|state| serde_json::to_string(state).unwrap()).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// V3-149: payloads are read exactly as written, whatever their splices, also after the journal was closed and opened again.
    #[test]
    fn payloads_come_back_exactly(states in states(), closed_at in 0usize..60) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let place = tempfile::tempdir().unwrap();
        let run = id("exact");
        runtime.block_on(async {
            let options = SqliteJournal::options().durability(interlocking_sqlite::Durability::Relaxed);
            let mut journal = options.open(place.path()).unwrap();
            journal.append(started(&run, "{}")).await.unwrap();
            for (index, state) in states.iter().enumerate() {
                if index == closed_at {
                    drop(journal);
                    journal = options.open(place.path()).unwrap();
                }
                journal.append(outcome(&run, index as u64 + 1, &state[..])).await.unwrap();
            }
            let texts = texts(&journal, &run).await;
            prop_assert!(texts.iter().map(|text| &**text).eq(states.iter().map(String::as_str)));
            prop_assert_eq!(journal.check().await.unwrap(), [""; 0]);
            Ok(())
        })?;
    }
}
