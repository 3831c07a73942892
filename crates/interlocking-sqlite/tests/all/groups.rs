//! Group commit: how often the journal waits for the disk, and how much it writes.

use crate::records::{id, outcome, started};
use interlocking_runtime::journal::{Journal, JournalError};
use interlocking_sqlite::{Durability, SqliteJournal};
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinSet;

#[tokio::test]
async fn a_lone_run_has_one_sync_a_record() {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(place.path()).unwrap();
    let run = id("lone");
    let claim = journal.claim(&run).await.unwrap();
    assert_eq!((journal.stats().commits, journal.stats().syncs), (1, 0), "a claim ends with its process anyway");
    journal.append(started(&run, "{}")).await.unwrap();
    for sequence in 1..100 {
        journal.append(outcome(&run, sequence, "{}")).await.unwrap();
    }
    assert_eq!((journal.stats().records, journal.stats().syncs), (100, 100));
    assert_eq!(journal.stats().commits, commits(place.path()));
    drop(claim);
}

/// Counts the commits in the log. SQLite's format is a header of 32 bytes, then frames, each a header of 24 bytes and a page.
/// Bytes 4 to 7 of a frame's header are not zero in the last frame of a transaction.
fn commits(directory: &Path) -> u64 {
    let log = std::fs::read(directory.join("journal.db-wal")).unwrap();
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let frame = 24 + number(8) as usize;
    (32..log.len()).step_by(frame).filter(|&at| number(at + 4) != 0).count() as u64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_runs_share_their_syncs() {
    let place = tempfile::tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::open(place.path()).unwrap());
    let mut runs = JoinSet::new();
    for number in 0..512 {
        let journal = Arc::clone(&journal);
        runs.spawn(async move {
            let run = id(&format!("run-{number}"));
            let claim = journal.claim(&run).await.unwrap();
            journal.append(started(&run, "{}")).await.unwrap();
            for sequence in 1..30 {
                journal.append(outcome(&run, sequence, format!("{{\"n\":{sequence}}}").as_str())).await.unwrap();
            }
            drop(claim);
        });
    }
    while let Some(done) = runs.join_next().await {
        done.unwrap();
    }
    let stats = journal.stats();
    assert_eq!(stats.records, 512 * 30);
    // How many share one depends on when the processor runs whom: `benches/journal.rs` counts them, on a quiet machine.
    assert!(stats.records >= 16 * stats.syncs, "{stats:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_record_fails_alone() {
    let place = tempfile::tempdir().unwrap();
    let journal = Arc::new(SqliteJournal::open(place.path()).unwrap());
    for name in ["good", "bad"] {
        journal.append(started(&id(name), "{}")).await.unwrap();
    }
    let mut appends = JoinSet::new();
    for (name, sequence) in [("bad", 7), ("good", 1), ("bad", 0)] {
        let journal = Arc::clone(&journal);
        appends.spawn(async move { journal.append(outcome(&id(name), sequence, "1")).await });
    }
    let mut refused = 0;
    while let Some(appended) = appends.join_next().await {
        match appended.unwrap() {
            Ok(()) => {}
            Err(JournalError::OutOfOrder { run, .. }) => refused += usize::from(run == id("bad")),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(refused, 2);
    assert_eq!(journal.load(&id("good")).await.unwrap().len(), 2);
}

/// The size of the log in bytes. It grows by every page that a transaction changes, as there is no checkpoint in between.
fn log(directory: &Path) -> u64 {
    std::fs::metadata(directory.join("journal.db-wal")).unwrap().len()
}

#[tokio::test]
async fn what_a_record_writes_does_not_depend_on_those_before_it() {
    let place = tempfile::tempdir().unwrap();
    let options = SqliteJournal::options().durability(Durability::Relaxed);
    let run = id("long");
    let mut written = Vec::new();
    let mut sequence = 1;
    options.open(place.path()).unwrap().append(started(&run, "{}")).await.unwrap();
    for _ in 0..20 {
        // Opened again, so that the log starts empty.
        let journal = options.open(place.path()).unwrap();
        journal.append(outcome(&run, sequence, "[0]")).await.unwrap();
        let before = log(place.path());
        for _ in 0..200 {
            sequence += 1;
            let state =
                format!("{{\"step\":{sequence},\"note\":\"{}\"}}", sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            journal.append(outcome(&run, sequence, &state[..])).await.unwrap();
        }
        sequence += 1;
        written.push((log(place.path()) - before) / 200);
    }
    let early = written[1..5].iter().max().unwrap();
    let late = written[16..].iter().max().unwrap();
    assert!(late * 100 <= early * 125, "bytes a record, by the hundreds: {written:?}");
    assert!(*late <= 12_000, "{written:?}");
}
