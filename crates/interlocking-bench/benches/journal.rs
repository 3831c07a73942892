//! Compares the durable journal with a bare SQLite transaction: `cargo bench -p interlocking-bench --bench
//! journal`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say so")]

use futures_util::future::join_all;
use interlocking::run_id::RunId;
use interlocking::runtime::journal::{By, Entry, Journal, NodeOutcome, Record, RecordedPayload, TokenRecord};
use interlocking::sqlite::{Durability, SqliteJournal};
use interlocking::table::Table;
use interlocking_bench::Ball;
use interlocking_bench::rounds::compare;
use rusqlite::{Connection, params};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

fn main() {
    let place = tempfile::tempdir().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for (durability, count) in [(Durability::Full, 100), (Durability::Relaxed, 1_000)] {
        let name = format!("{durability:?}").to_lowercase();
        let at = |name: &str| place.path().join(format!("{durability:?} {name}"));
        let journal = SqliteJournal::options().durability(durability).open(at("journal")).unwrap();
        let mut round = 0;
        let mut subject = || {
            round += 1;
            runtime.block_on(transitions(&journal, &id("lone", round), count));
        };
        let one_row = one_row(&at("one row.db"), durability);
        let besides_one = compare(21, &mut subject, || one_row_each(&one_row, count));
        println!("{}", besides_one.line(&format!("a record, {name}; one row by hand"), count, None));
        let same_rows = same_rows(&at("same rows"), durability);
        let mut first = 0;
        let besides_same = compare(21, &mut subject, || {
            same_rows_each(&same_rows, first, count);
            first += count as i64;
        });
        println!("{}", besides_same.line(&format!("a record, {name}; same rows by hand"), count, Some(1.2)));
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
    let payload = RecordedPayload::Json(serde_json::to_string(ball).unwrap().into());
    let mut outcome = NodeOutcome::new(By { node: "ping".to_owned(), visit: sequence as u32, attempt: 1 }, 0);
    outcome.alternative = Some(0);
    outcome.tokens = vec![TokenRecord { place: "ping".to_owned(), payload }];
    Record { run: run.clone(), sequence, entry: Entry::Outcome(outcome) }
}

async fn transitions(journal: &SqliteJournal, run: &RunId, count: u64) {
    let mut ball = Ball::new(count);
    let input = RecordedPayload::Json(serde_json::to_string(&ball).unwrap().into());
    let started = Entry::Started { table: Box::new(table()), input, origin: None, workspaces: Vec::new() };
    journal.append(Record { run: run.clone(), sequence: 0, entry: started }).await.unwrap();
    for sequence in 1..=count {
        ball.hits += 1;
        journal.append(outcome(run, sequence, &ball)).await.unwrap();
    }
}

fn prepared(connection: Connection, durability: Durability) -> Connection {
    let synchronous = if durability == Durability::Full { "FULL" } else { "NORMAL" };
    connection.execute_batch(&format!("PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}")).unwrap();
    connection
}

/// A database with SQLite's default settings and one table.
fn one_row(path: &Path, durability: Durability) -> Connection {
    let connection = prepared(Connection::open(path).unwrap(), durability);
    connection.execute_batch("CREATE TABLE record(id INTEGER PRIMARY KEY,body TEXT NOT NULL)").unwrap();
    connection
}

/// The same records as JSON, one transaction each.
fn one_row_each(connection: &Connection, count: u64) {
    let (run, mut ball) = (id("bare", 0), Ball::new(count));
    for sequence in 0..=count {
        ball.hits += 1;
        let body = serde_json::to_string(&outcome(&run, sequence, &ball)).unwrap();
        transaction(connection, || {
            connection.prepare_cached("INSERT INTO record(body)VALUES(?)").unwrap().execute([body]).unwrap();
        });
    }
}

/// A database with a journal's own tables.
fn same_rows(directory: &Path, durability: Durability) -> Connection {
    drop(SqliteJournal::open(directory).unwrap());
    let connection = prepared(Connection::open(directory.join("journal.db")).unwrap(), durability);
    connection.execute_batch("PRAGMA foreign_keys=OFF; PRAGMA wal_autocheckpoint=2048").unwrap();
    connection
}

/// Writes the rows that the journal writes for a record, without computing their content.
fn same_rows_each(connection: &Connection, first: i64, count: u64) {
    let ball = serde_json::to_string(&Ball::new(count)).unwrap();
    for sequence in first..=first + count as i64 {
        let noise = (sequence as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let sha256 = [noise.to_be_bytes(); 4].concat();
        transaction(connection, || {
            let object = "INSERT OR REPLACE INTO object(id,base,form,body)VALUES(?,?,0,?)";
            let splice = &ball.as_bytes()[..14];
            connection.prepare_cached(object).unwrap().execute(params![sequence, sequence - 1, splice]).unwrap();
            let name = "INSERT OR REPLACE INTO name(head,object)VALUES(?,?)";
            connection.prepare_cached(name).unwrap().execute(params![(noise >> 17) as i64, sequence]).unwrap();
            let record = "INSERT OR REPLACE INTO record(id,at_ms,node,visit,attempt,alternative,took_ms,place,sha256)\
                          VALUES(?,?,'ping',?,1,0,0,'ping',?)";
            let values = params![(1i64 << 32) + sequence, sequence, sequence, sha256];
            connection.prepare_cached(record).unwrap().execute(values).unwrap();
        });
    }
}

fn transaction(connection: &Connection, work: impl FnOnce()) {
    connection.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
    work();
    connection.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
}
