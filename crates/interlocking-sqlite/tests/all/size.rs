//! The size of a run on disk.

use crate::records::{id, outcome, started, texts};
use interlocking_runtime::journal::Journal;
use interlocking_sqlite::{Durability, SqliteJournal};
use std::path::Path;

fn bytes(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| if entry.path().is_dir() { bytes(&entry.path()) } else { entry.metadata().unwrap().len() })
        .sum()
}

/// An entry of exactly 270 bytes, whose text has no repetitions.
fn entry(step: u64) -> String {
    let mut noise = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = format!(",{{\"step\":{step},\"note\":\"");
    while text.len() < 268 {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        let alphabet = b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ.0123456789";
        text.push(char::from(alphabet[(noise >> 32) as usize % alphabet.len()]));
    }
    text + "\"}"
}

async fn grow(counter: bool) -> u64 {
    let place = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::options().durability(Durability::Relaxed).open(place.path()).unwrap();
    let run = id("growing");
    journal.append(started(&run, "{}")).await.unwrap();
    let mut entries = String::from("0");
    let mut last = String::new();
    for step in 1..=1_000 {
        entries.push_str(&entry(step));
        let count = if counter { format!("\"steps\":{step},") } else { String::new() };
        last = format!("{{{count}\"entries\":[{entries}]}}");
        journal.append(outcome(&run, step, &last[..])).await.unwrap();
    }
    assert_eq!(texts(&journal, &run).await.last().map(|text| &**text), Some(&*last));
    drop(journal);
    bytes(place.path())
}

#[tokio::test]
async fn a_growing_state_takes_what_it_grows_by() {
    let bytes = grow(false).await;
    assert!(bytes <= 405_000, "1,000 steps of 270 bytes take {bytes} bytes");
}

#[tokio::test]
async fn a_growing_state_that_counts_takes_no_more() {
    let bytes = grow(true).await;
    assert!(bytes <= 405_000, "1,000 steps of 270 bytes, which are counted, take {bytes} bytes");
}
