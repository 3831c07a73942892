//! The durable journal beside a bare SQLite transaction: `cargo bench -p interlocking-bench --bench journal`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say so")]

use futures_util::future::join_all;
use interlocking::run_id::RunId;
use interlocking::runtime::journal::{Entry, Journal, NodeOutcome, Payload, Record, TokenRecord};
use interlocking::sqlite::{Durability, SqliteJournal};
use interlocking::table::Table;
use interlocking_bench::Ball;
use interlocking_bench::rounds::compare;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

fn main() {
    let place = tempfile::tempdir().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for (durability, count, rounds) in [(Durability::Full, 200, 21), (Durability::Relaxed, 1_000, 21)] {
        let directory = place.path().join(format!("{durability:?}"));
        let journal = SqliteJournal::options().durability(durability).open(&directory).unwrap();
        let bare = bare(&place.path().join(format!("{durability:?}.db")), durability);
        let mut round = 0;
        let transition = compare(
            rounds,
            || {
                round += 1;
                runtime.block_on(transitions(&journal, &id("lone", round), count));
            },
            || bare_transitions(&bare, count),
        );
        let name = format!("a record, {}", format!("{durability:?}").to_lowercase());
        println!("{}", transition.line(&name, count, Some(1.2)));
    }
    load(&runtime, &place.path().join("load"));
    together(&place.path().join("together"));
}

/// Loads a run of 100,000 records.
fn load(runtime: &Runtime, directory: &Path) {
    const RECORDS: u64 = 100_000;
    let journal = SqliteJournal::options().durability(Durability::Relaxed).open(directory).unwrap();
    let run = id("long", 0);
    runtime.block_on(transitions(&journal, &run, RECORDS));
    let mut times: Vec<_> = (0..5)
        .map(|_| {
            let started = Instant::now();
            assert_eq!(runtime.block_on(journal.load(&run)).unwrap().len() as u64, RECORDS + 1);
            started.elapsed() / RECORDS as u32
        })
        .collect();
    times.sort();
    println!("load of 100,000 records            {:>10.2?} a record (median of 5)   goal 2 µs", times[2]);
}

/// 512 runs at once.
fn together(directory: &Path) {
    const RUNS: u64 = 512;
    const EACH: u64 = 40;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let journal = Arc::new(SqliteJournal::open(directory).unwrap());
    let started = Instant::now();
    runtime.block_on(async {
        let runs = (0..RUNS).map(|run| {
            let journal = Arc::clone(&journal);
            tokio::spawn(async move { transitions(&journal, &id("many", run), EACH).await })
        });
        join_all(runs).await.into_iter().for_each(Result::unwrap);
    });
    let stats = journal.stats();
    let (each, syncs) = (started.elapsed() / stats.records as u32, stats.records as f64 / stats.syncs as f64);
    println!("512 runs at once                   {each:>10.2?} a record, {syncs:.0} records a sync   goal 250");
}

fn id(name: &str, number: u64) -> RunId {
    format!("{name}-{number}").parse().unwrap()
}

fn table() -> Table {
    let json =
        r#"{"graph":"Court","output":"u64","nodes":[{"name":"ping","kind":"logic","entry":true,"input":"Ball"}]}"#;
    serde_json::from_str(json).unwrap()
}

/// The record of one transition; its ball as JSON.
fn outcome(run: &RunId, sequence: u64, ball: &Ball) -> Record {
    let payload = Payload::Json(serde_json::to_string(ball).unwrap().into());
    let entry = Entry::Outcome(NodeOutcome {
        node: "ping".to_owned(),
        visit: sequence as u32,
        attempt: 1,
        alternative: Some(0),
        tokens: vec![TokenRecord { place: "ping".to_owned(), payload }],
        spawned: Vec::new(),
        posted: Vec::new(),
        label: None,
        memory: None,
        calls: Vec::new(),
        commits: Vec::new(),
        took_ms: 0,
    });
    Record { run: run.clone(), sequence, entry }
}

async fn transitions(journal: &SqliteJournal, run: &RunId, count: u64) {
    let mut ball = Ball::new(count);
    let input = Payload::Json(serde_json::to_string(&ball).unwrap().into());
    let started = Entry::Started { table: Box::new(table()), input, origin: None, workspaces: Vec::new() };
    journal.append(Record { run: run.clone(), sequence: 0, entry: started }).await.unwrap();
    for sequence in 1..=count {
        ball.hits += 1;
        journal.append(outcome(run, sequence, &ball)).await.unwrap();
    }
}

fn bare(path: &Path, durability: Durability) -> Connection {
    let connection = Connection::open(path).unwrap();
    let synchronous = if durability == Durability::Full { "FULL" } else { "NORMAL" };
    let pragmas = format!("PRAGMA journal_mode=WAL;PRAGMA synchronous={synchronous};PRAGMA wal_autocheckpoint=4096;");
    connection.execute_batch(&pragmas).unwrap();
    connection.execute_batch("CREATE TABLE record(id INTEGER PRIMARY KEY,body TEXT NOT NULL)").unwrap();
    connection
}

/// The same records as JSON, one transaction each.
fn bare_transitions(connection: &Connection, count: u64) {
    let (run, mut ball) = (id("bare", 0), Ball::new(count));
    for sequence in 0..=count {
        ball.hits += 1;
        let body = serde_json::to_string(&outcome(&run, sequence, &ball)).unwrap();
        connection.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
        connection.prepare_cached("INSERT INTO record(body)VALUES(?)").unwrap().execute([body]).unwrap();
        connection.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
    }
}
