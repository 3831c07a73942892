//! Compares a stored chain with LangGraph's, in turns: `cargo bench -p interlocking-bench --bench peers -- PYTHON`, where
//! PYTHON is an interpreter that has `langgraph` and `langgraph-checkpoint-sqlite`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say so")]

use interlocking::prelude::*;
use interlocking::sqlite::{Durability, SqliteJournal};
use interlocking_bench::growing::{Grown, growing};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

const STEPS: usize = 1_000;
const ROUNDS: usize = 5;
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/langgraph_chain.py");

fn main() {
    let python = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let mut taken: [Vec<(Duration, u64)>; 3] = Default::default();
    for _ in 0..ROUNDS {
        taken[0].push(stored(Durability::Full));
        taken[1].push(stored(Durability::Relaxed));
        if let Some(python) = &python {
            taken[2].push(peer(python));
        }
    }
    println!("{STEPS} steps, each of which adds 270 bytes to the state, in SQLite (median of {ROUNDS})");
    let names = ["this, every step synced (the default)", "this, relaxed", "LangGraph with SqliteSaver"];
    for (name, mut taken) in names.into_iter().zip(taken).filter(|(_, taken)| !taken.is_empty()) {
        taken.sort();
        let (took, bytes) = taken[taken.len() / 2];
        println!("{name:<40} {:>10.1?} a step {:>9.1} MB in all", took / STEPS as u32, bytes as f64 / 1e6);
    }
    if python.is_none() {
        println!("LangGraph was not measured: name a Python that has it");
    }
}

/// Runs the chain here; gives its duration and the bytes that it has written.
fn stored(durability: Durability) -> (Duration, u64) {
    let place = tempfile::tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::options().durability(durability).open(place.path()).unwrap());
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let started = Instant::now();
    let grown = Grown { limit: STEPS, entries: Vec::new() };
    let report = runtime.block_on(Run::new(growing()).with_journal(journal.clone()).start(grown)).unwrap();
    let took = started.elapsed();
    assert_eq!(report.outcome.finished(), Some(STEPS));
    // Closes the journal, as the peer closes its own; the write-ahead log is removed a moment later.
    drop((runtime, journal));
    while place.path().join("journal.db-wal").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    (took, bytes(place.path()))
}

/// Runs the same chain in LangGraph.
fn peer(python: &str) -> (Duration, u64) {
    let place = tempfile::tempdir().unwrap();
    let output = Command::new(python).arg(PEER).arg(place.path()).arg(STEPS.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    let (took, bytes) = told.trim().split_once(' ').unwrap();
    (Duration::from_secs_f64(took.parse().unwrap()), bytes.parse().unwrap())
}

fn bytes(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| if entry.path().is_dir() { bytes(&entry.path()) } else { entry.metadata().unwrap().len() })
        .sum()
}
