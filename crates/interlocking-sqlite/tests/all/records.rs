//! Sample records.

use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use interlocking_runtime::journal::{By, Encoded, Entry, Journal, NodeOutcome, Record, RecordedPayload, TokenRecord};
use interlocking_sqlite::SqliteJournal;

pub(crate) fn id(name: &str) -> RunId {
    name.parse().unwrap()
}

/// A table with one node, the entry.
pub(crate) fn table() -> Table {
    let json =
        r#"{"graph":"Draft","output":"String","nodes":[{"name":"write","kind":"logic","entry":true,"input":"State"}]}"#;
    serde_json::from_str(json).unwrap()
}

pub(crate) fn started(run: &RunId, input: &str) -> Record {
    let entry = Entry::Started { table: Box::new(table()), input: input.into(), origin: None, workspaces: Vec::new() };
    Record { run: run.clone(), sequence: 0, entry }
}

/// The outcome of `write` with one token.
pub(crate) fn outcome(run: &RunId, sequence: u64, payload: impl Into<RecordedPayload>) -> Record {
    let mut outcome = NodeOutcome::new(By { node: "write".to_owned(), visit: sequence as u32, attempt: 1 }, 3);
    outcome.alternative = Some(0);
    outcome.tokens = vec![TokenRecord { place: "write".to_owned(), payload: payload.into() }];
    Record { run: run.clone(), sequence, entry: Entry::Outcome(outcome) }
}

pub(crate) fn ended(run: &RunId, sequence: u64) -> Record {
    Record { run: run.clone(), sequence, entry: Entry::Ended { failure: None, cancelled: false, output: None } }
}

pub(crate) fn failure() -> Failure {
    let mut failure = Failure::new("write", 1, 1, FailureKind::Handler, "no ink");
    failure.causes = vec!["the shop is closed".to_owned()];
    failure
}

/// The texts of the tokens of a run's outcomes.
pub(crate) async fn texts(journal: &SqliteJournal, run: &RunId) -> Vec<Encoded> {
    let mut names = Vec::new();
    for record in journal.load(run).await.unwrap() {
        if let Entry::Outcome(outcome) = record.entry {
            for token in outcome.tokens {
                let RecordedPayload::Stored(digest) = token.payload else { panic!("a payload came by value") };
                names.push(digest);
            }
        }
    }
    journal.fetch(run, &names).await.unwrap()
}
